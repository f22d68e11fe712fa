import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { aPassage } from '../../../support/contract-samples.ts';

const QUESTION = 'When was the harbor bridge opened?';
const FOUND = 'The harbor bridge was opened on 19 March 1932.';
const turns = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ role: 'user' as const, content: `Note ${at}: buy milk.` }));
const documents = {
  search: async (query: string) => ({ query, passages: [aPassage({ id: 'p', text: FOUND })], widened: false }),
};

describe('a long history with space left in the context window', () => {
  it('[U10] leaves room for the passages that the run finds, so that the answer uses them', async () => {
    const run = createPostChain({ documents }).run({ request: QUESTION, history: turns(198) });
    const answer = await run.answer;
    expect(answer.answerText).toContain('19 March 1932');
    expect(answer.status).toBe('completed');
  });
});
