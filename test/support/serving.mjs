import { serve } from '@hono/node-server';
import { createPostChain } from '../../dist/index.js';
import { bearerTokens, createServer } from '../../dist/server.js';
import { replies, scriptedModel } from '../../dist/testing.js';
import { journalsAt } from './journals-at.mjs';

/** Serves a chain whose model writes slowly: `node serving.mjs KIND PLACE PORT`. Prints its port. SIGTERM closes it. */
const [, , kind, place, port] = process.argv;
const journals = journalsAt(kind, place);
const scripted = scriptedModel({}, { otherwise: replies, chunkChars: 6 });
const model = {
  ...scripted,
  async *stream(...call) {
    for await (const part of scripted.stream(...call)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield part;
    }
  },
};
const chain = createPostChain({ model, journals, profile: 'thorough' });
const server = await createServer({ chain, authorize: bearerTokens({ 'the-token-of-alice': 'alice' }) });
const http = serve({ fetch: server.fetch, hostname: '127.0.0.1', port: Number(port) }, (address) =>
  process.stdout.write(`${address.port}\n`),
);
process.once('SIGTERM', async () => {
  await server.close();
  http.closeAllConnections();
  http.close();
  await journals.close?.();
});
