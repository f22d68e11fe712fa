import { scriptedModel } from 'postchain/testing';

// With a key, a real model: openaiModel({ model: 'gpt-4.1-mini' }) of postchain/openai.
export const model = scriptedModel({
  clerk: [
    { answer: null, calls: [{ tool: 'find_order', arguments: '{"id":"A7"}' }] },
    { answer: { order: 'A7', cents: 4_000, reason: 'The umbrella arrived broken.' }, calls: [] },
  ],
});
