import { fileJournals } from '../../dist/node.js';
import { createServer } from '../../dist/server.js';
import { temporaryFolder } from '../temporary-folder.mjs';
import { answered } from './answered.mjs';
import { posted, served } from './over-http.mjs';
import { openChain } from './postchain.mjs';
import { ANSWER, QUESTION } from './question.mjs';

/** @typedef {import('./postchain.mjs').Options & { path: keyof typeof PROTOCOLS }} Options */

const message = { role: 'user', content: QUESTION };

/** What a client posts, and the piece of the answer in an event, if any. */
const PROTOCOLS = {
  '/runs': {
    body: () => ({ request: QUESTION }),
    textOf: (/** @type {any} */ { type, delta }) => (type === 'text' ? delta : ''),
  },
  '/v1/chat/completions': {
    body: () => ({ model: 'postchain', messages: [message], stream: true }),
    textOf: (/** @type {any} */ { choices: [choice] }) => choice?.delta.content ?? '',
  },
  '/api/chat': {
    body: () => ({
      id: crypto.randomUUID(),
      messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: QUESTION }] }],
    }),
    textOf: (/** @type {any} */ { type, delta }) => (type === 'text-delta' ? delta : ''),
  },
};

/** @type {Promise<string> | null} */
let origin = null;

/** @param {Options} options */
async function open(options) {
  const chain = await openChain({ ...options, journals: fileJournals(temporaryFolder()) });
  const server = await createServer({ chain, authorize: () => 'local' });
  return await served(server.fetch);
}

/**
 * Answers over HTTP, as one of the protocols of PostChain's server streams it. The client is in the process of the server.
 *
 * @param {Options} options
 */
export async function measure(options) {
  origin ??= open(options);
  const url = `${await origin}${options.path}`;
  const { body, textOf } = PROTOCOLS[options.path];
  return await answered(
    options.port,
    async (onText) => {
      let text = '';
      for await (const event of posted(url, body())) {
        const piece = textOf(event);
        if (piece !== '') onText(piece);
        text += piece;
      }
      return text;
    },
    ANSWER,
  );
}
