import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createPostChain, memoryJournals } from 'postchain';
import { bearerTokens, createServer } from 'postchain/server';
import { replies, scriptedModel } from 'postchain/testing';

// In production, use openaiModel({ model: 'gpt-4.1-mini' }).
const model = scriptedModel({}, { otherwise: replies });
const chain = createPostChain({ model, journals: memoryJournals() });
const server = await createServer({ chain, authorize: bearerTokens({ 'a-long-secret-token': 'alice' }) });

// For questions, add `capabilities: { elicitation: {} }` and a handler of 'elicitation/create'.
const client = new Client({ name: 'example', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(
  new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers: { authorization: 'Bearer a-long-secret-token' } },
    // Calls the server in this process. Omit it to call a running server.
    fetch: (url, init) => server.fetch(new Request(url, init)),
  }),
);
const { structuredContent } = await client.callTool({ name: 'ask', arguments: { question: 'Is it so?' } });
console.log((structuredContent as { answer: string }).answer); // It is so.
await client.close();
await server.close();
