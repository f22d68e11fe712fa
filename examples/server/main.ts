import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { createPassageIndex, createPostChain } from 'postchain';
import { fileJournals, loadDocuments } from 'postchain/node';
import { bearerTokens, createServer } from 'postchain/server';

const { TOKEN = '', JOURNALS = 'journals', PORT = '8787' } = process.env;
const { documents } = await loadDocuments(['docs']);
const chain = createPostChain({
  documents: createPassageIndex(documents),
  consent: 'ask',
  journals: fileJournals(JOURNALS),
});
const server = await createServer({ chain, authorize: bearerTokens({ [TOKEN]: 'alice' }) });

const http = serve({ fetch: server.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) =>
  console.log(`http://127.0.0.1:${port}`),
);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
http.close();
await server.close();
if ('closeAllConnections' in http) http.closeAllConnections();
