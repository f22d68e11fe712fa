import type OpenAI from 'openai';
import type { ModelRequest, ReplyForm } from '../../../machines/contracts/model.ts';
import { isOpenAI } from './base-url.ts';
import { type Dialect, REFUSING } from './dialect.ts';
import { fallbackDialect, isAboutSchema } from './fallback-dialect.ts';
import type { OpenAISettings } from './options.ts';
import { isPromptTooLong } from './prompt-too-long.ts';
import { requestBody } from './request-body.ts';
import { type ServerError, serverError } from './server-error.ts';
import { refusesTools } from './tool-refusal.ts';

const BEST = {
  format: 'strict_schema',
  toolChoice: 'named',
  strictTool: true,
  offers: 'strict',
  anyChoice: 'required',
  usage: true,
} as const;

/** Sends one request and gives the reply's chunks, as they come over the wire. */
type Send = (request: ModelRequest, signal: AbortSignal) => Promise<AsyncIterable<unknown>>;

/**
 * Finds the richest dialect that the server takes. A refusal is answered by asking again in a humbler one, within the same
 * attempt; once the server has taken one, it is remembered, so a refusal is paid once in the life of a model. Requests for text
 * and for tool calls are remembered apart, and so is what a server said about one schema, as that is no fault of another.
 *
 * @throws what the openai client throws; the first refusal when no dialect is taken.
 */
export function negotiation(settings: OpenAISettings, client: () => Promise<OpenAI>): Send {
  const tokenLimit = isOpenAI(settings.baseURL) ? 'max_completion_tokens' : 'max_tokens';
  const best: Dialect = { ...BEST, tokenLimit };
  const taken = new Map<ReplyForm, Dialect>();
  const takenFor = new WeakMap<object, Map<ReplyForm, Dialect>>();

  return async (request, signal) => {
    const form = request.replyForm;
    const ofSchema = takenFor.get(request.outputSchema);
    let dialect = ofSchema?.get(form) ?? taken.get(form) ?? best;
    let refusal: unknown = null;
    let isSchemasFault = false;
    for (;;) {
      try {
        const chunks = await send(await client(), requestBody(request, settings, dialect), signal);
        if (isSchemasFault) takenFor.set(request.outputSchema, new Map([...(ofSchema ?? []), [form, dialect]]));
        else if (refusal !== null) taken.set(form, dialect);
        return chunks;
      } catch (thrown) {
        const said = serverError(thrown);
        const next = said === null || isPromptTooLong(said) ? null : fallbackDialect(dialect, said, request);
        refusal ??= thrown;
        isSchemasFault ||= said !== null && isAboutSchema(said.text);
        if (next === null) throw isMoreOfTheSame(said) ? refusal : thrown;
        dialect = next;
      }
    }
  };
}

/** Whether the last word is one more refusal of a way of asking, so that the first, about the best way, tells more. */
function isMoreOfTheSame(said: ServerError | null): boolean {
  return said !== null && REFUSING.has(said.status) && !isPromptTooLong(said) && !refusesTools(said.text);
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
