import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { serve } from '@hono/node-server';
import { createWorker } from 'postchain/durable';
import { inspectionServer } from 'postchain/inspection';
import { conversations, hasModel } from './agent.ts';
import { createDesk } from './desk.ts';

const {
  HOST = '127.0.0.1',
  PORT = '8787',
  TOKEN = randomBytes(32).toString('hex'),
  HOSTS = '',
  NODE_ENV,
} = process.env;
if (!hasModel) console.log('OPENAI_API_KEY is not set: a demo model with fixed rules replies.');

const desk = await createDesk(conversations, TOKEN, HOSTS.split(',').filter(Boolean));
const http = serve({ fetch: desk.fetch, hostname: HOST, port: Number(PORT) });
await once(http, 'listening');
// The page reads the token after the #, which browsers do not send.
console.log(`Chat: http://localhost:${PORT}/#${TOKEN}`);

// Continues conversations whose process died. Several instances share the work.
const worker = createWorker({ hosts: [conversations] });
const inspector = NODE_ENV === 'production' ? null : await inspectionServer({ hosts: [conversations] });
if (inspector !== null) console.log(`Inspector: ${inspector.url}`);

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
// The conversations continue when the program starts again.
await Promise.all([worker.stop(), desk.close(), inspector?.close()]);
process.exit();
