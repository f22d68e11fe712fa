import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import OpenAI from 'openai';
import { createPassageIndex, createPostChain, memoryJournals } from 'postchain';
import { bearerTokens, createServer } from 'postchain/server';

const documents = createPassageIndex([
  { path: 'hours.md', text: 'The library opens at nine.' },
  { path: 'books.md', text: 'A lost book costs ten euros.' },
]);
const chain = createPostChain({ documents, journals: memoryJournals() });
const server = await createServer({ chain, authorize: bearerTokens({ 'a-long-secret-token': 'alice' }) });
const http = serve({ fetch: server.fetch, hostname: '127.0.0.1', port: 0 });
await once(http, 'listening');
const { port } = http.address() as AddressInfo;

const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'a-long-secret-token' });
const stream = client.responses.stream({ model: 'postchain', input: 'When does the library open?' });
stream.on('response.reasoning_summary_text.delta', ({ delta }) => console.log(delta));
const first = await stream.finalResponse();
console.log(first.output_text); // The library opens at nine.

const next = { model: 'postchain', input: 'What does a lost book cost?', previous_response_id: first.id };
const { output_text } = await client.responses.create(next);
console.log(output_text); // A lost book costs ten euros.

await server.close();
http.close();
