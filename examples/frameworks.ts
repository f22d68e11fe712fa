import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { getRequestListener, serve } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { createPassageIndex, createPostChain, memoryJournals } from 'postchain';
import { bearerTokens, createServer } from 'postchain/server';

const { TOKEN = 'a-token-of-16-characters' } = process.env;
const documents = createPassageIndex([{ path: 'hours.md', text: 'We open at nine.' }]);
const chain = createPostChain({ documents, journals: memoryJournals() });
const server = await createServer({ chain, authorize: bearerTokens({ [TOKEN]: 'alice' }) });

// Hono, and everything that it runs on.
const hono = new Hono();
hono.get('/', (context) => context.text('your page'));
hono.mount('/ai', server.fetch);

// Express, before anything that reads bodies, such as express.json(). NestJS: the same on its Express application.
const app = express();
app.use('/ai', getRequestListener(server.fetch));
app.get('/', (_, response) => void response.send('your page'));

// Next.js: app/ai/[...path]/route.ts.
const handler = (request: Request) => server.fetch(new Request(request.url.replace('/ai/', '/'), request));

export { handler as GET, handler as POST };

const servers = [serve({ fetch: hono.fetch, hostname: '127.0.0.1', port: 0 }), app.listen(0, '127.0.0.1')];
for (const http of servers) {
  if (!http.listening) await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  const health = await fetch(`http://127.0.0.1:${port}/ai/healthz`);
  console.log(((await health.json()) as { status: string }).status); // ok
}
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
const body = JSON.stringify({ request: 'When do you open?' });
const started = await handler(new Request('http://127.0.0.1/ai/runs', { method: 'POST', headers, body }));
console.log(started.status); // 201
for (const http of servers) http.close();
await server.close();
