import { serve } from '@hono/node-server';
import { createPassageIndex, createPostChain } from 'postchain';
import { loadDocuments } from 'postchain/node';
import { createApp } from './app.ts';

const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({ documents: createPassageIndex(documents), consent: 'ask' });
const app = createApp(chain, { token: process.env['SERVICE_TOKEN'] });

const port = Number(process.env['PORT'] ?? 8787);
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port }, (address) =>
  console.log(`http://127.0.0.1:${address.port}`),
);

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
