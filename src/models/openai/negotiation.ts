import type OpenAI from 'openai';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import { isOpenAI } from './base-url.ts';
import { type Dialect, humblerDialect, REFUSING } from './dialect.ts';
import type { OpenAISettings } from './options.ts';
import { requestBody } from './request-body.ts';
import { serverError } from './server-error.ts';

/** Sends one request and gives the reply's chunks, as they come over the wire. */
type Send = (request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<unknown>>;

/**
 * Finds the richest dialect that the server takes. A refusal is answered by asking again in a humbler one, within the same
 * attempt; once the server has taken one, it is remembered, so a refusal is paid once in the life of a model.
 *
 * @throws what the openai client throws; the first refusal when no dialect is taken.
 */
export function negotiation(settings: OpenAISettings, client: () => Promise<OpenAI>): Send {
  const tokenLimit = isOpenAI(settings.baseURL) ? 'max_completion_tokens' : 'max_tokens';
  let taken: Dialect = { format: 'strict_schema', usage: true, tokenLimit };

  return async (request, signal) => {
    let dialect = taken;
    let refusal: unknown = null;
    for (;;) {
      try {
        const chunks = await send(await client(), requestBody(request, settings, dialect), signal);
        if (refusal !== null) taken = dialect;
        return chunks;
      } catch (thrown) {
        const said = serverError(thrown);
        const next = said === null ? null : humblerDialect(dialect, said);
        refusal ??= thrown;
        if (next === null) throw said !== null && REFUSING.has(said.status) ? refusal : thrown;
        dialect = next;
      }
    }
  };
}

type Body = Parameters<OpenAI['chat']['completions']['create']>[0] & { stream: true };

/** The chunks of a streamed reply, or the one object of a server that answers in one piece all the same. */
async function send(client: OpenAI, body: Body, signal: AbortSignal): Promise<AsyncIterable<unknown>> {
  const { data, response } = await client.chat.completions.create(body, { signal }).withResponse();
  return response.headers.get('content-type')?.includes('application/json') ? onePiece(response) : data;
}

async function* onePiece(response: Response): AsyncGenerator<unknown, void> {
  yield await response.json();
}
