import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { extractiveModel } from 'postchain';
import { fileJournals } from 'postchain/node';
import { openaiModel } from 'postchain/openai';
import { createServer } from 'vite';
import { createChat } from './chat.ts';

const { OPENAI_API_KEY, OPENAI_BASE_URL, MODEL = 'gpt-4.1-mini' } = process.env;
const hasModel = Boolean(OPENAI_API_KEY || OPENAI_BASE_URL);
if (!hasModel)
  console.log('OPENAI_API_KEY is not set: answers are quoted from the policy, and nothing can be refunded.');

const model = hasModel ? openaiModel({ model: MODEL }) : extractiveModel();
const chat = await createChat(model, fileJournals('journals'), (order) => `Refunded order ${order}.`);
const api = serve({ fetch: chat.fetch, hostname: '127.0.0.1', port: 0 });
await once(api, 'listening');
const { port } = api.address() as AddressInfo;

// An object, because a plain URL would change the Host, and the server then rejects the page as foreign.
const target = { target: `http://127.0.0.1:${port}` };
const page = await createServer({ server: { host: '127.0.0.1', proxy: { '/api': target, '/runs': target } } });
await page.listen();
page.printUrls();

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
// The runs continue when the program starts again.
await chat.close();
process.exit();
