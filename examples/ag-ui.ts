import { createPostChain, memoryJournals } from 'postchain';
import { bearerTokens, createServer } from 'postchain/server';
import { replies, scriptedModel } from 'postchain/testing';

// In production, use openaiModel({ model: 'gpt-4.1-mini' }).
const model = scriptedModel({}, { otherwise: replies });
const chain = createPostChain({ model, journals: memoryJournals() });
const server = await createServer({ chain, authorize: bearerTokens({ 'a-long-secret-token': 'alice' }) });

// In a web page, `new HttpAgent({ url, headers })` from @ag-ui/client sends this.
const input = {
  threadId: 'thread-1',
  runId: 'run-1',
  messages: [{ id: 'm1', role: 'user', content: 'Is it so?' }],
};
const response = await server.fetch(
  new Request('http://localhost/ag-ui', {
    method: 'POST',
    headers: { authorization: 'Bearer a-long-secret-token', 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }),
);
for (const line of (await response.text()).split('\n')) {
  if (!line.startsWith('data: ')) continue;
  const event = JSON.parse(line.slice('data: '.length));
  if (event.type === 'RUN_FINISHED') console.log(event.result.answerText); // It is so.
}
await server.close();
