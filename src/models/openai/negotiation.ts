import type OpenAI from 'openai';
import type { ModelRequest, ReplyForm } from '../../../machines/contracts/model.ts';
import { isOpenAI } from './base-url.ts';
import { type Dialect, isUnknown, REFUSING, type Refusal } from './dialect.ts';
import type { OpenAISettings } from './options.ts';
import { isPromptTooLong } from './prompt-too-long.ts';
import { requestBody } from './request-body.ts';
import { type ServerError, serverError } from './server-error.ts';
import { isAboutToolChoice, isNoCall, refusesTools } from './tool-refusal.ts';

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

const ABOUT_FORMAT = /response_?\s?format|json[_ ](schema|object|mode)|structured output|guided|grammar/iu;
const ABOUT_SCHEMA = /invalid schema|strict|not permitted/iu;
/** What a server says of a schema that it would have taken the way of asking for. */
const ABOUT_THIS_SCHEMA =
  /invalid schema|invalid_function_parameters|grammar|reference can only|schema missing items/iu;
/** What servers say of tools beside a response format, some with a status of 500. */
const COMBINED = /(cannot|can't|not) (use|be (used|combined)).*\b(tools?|functions?)\b/iu;
const ABOUT_USAGE = /stream_options|include_usage/iu;

/** Whether a refusal is about the one schema, so that others may be asked for as before. */
function isAboutSchema(text: string): boolean {
  return ABOUT_THIS_SCHEMA.test(text);
}

/**
 * The next humbler dialect to ask in, or null when the refusal is about something else or nothing is left to give up. Every step
 * gives up one thing for good, so at most six requests are made for a reply in text and seven for a tool call, and as many as eight
 * and eleven where tools are offered beside it: those are given up before anything that the reply itself is asked for with.
 */
function fallbackDialect(
  dialect: Dialect,
  refusal: Refusal,
  { replyForm, tools }: Pick<ModelRequest, 'replyForm' | 'tools'>,
): Dialect | null {
  const text = `${refusal.param ?? ''} ${refusal.text}`;
  const isOffering = tools !== undefined && tools.length > 0 && dialect.offers !== 'words';
  const isText = replyForm === 'text';
  if (isText && isOffering && refusal.status === 500 && (refusesTools(text) || COMBINED.test(text)))
    return humblerOffers(dialect, text);
  if (!REFUSING.has(refusal.status)) return null;
  if (dialect.usage && ABOUT_USAGE.test(text)) return { ...dialect, usage: false };
  if (dialect.tokenLimit === 'max_tokens' && text.includes('max_completion_tokens')) {
    return { ...dialect, tokenLimit: 'max_completion_tokens' };
  }
  const namesParam = refusal.param !== null;
  if (!isText) return humblerTool(dialect, { text, namesParam, isOffering });
  if (isOffering && (isAboutTools(text) || isUnspecific(text, namesParam))) return humblerOffers(dialect, text);
  return humblerText(dialect, text, namesParam);
}

/** Whether something is refused and it is not said what. */
function isUnspecific(text: string, namesParam: boolean): boolean {
  return !ABOUT_FORMAT.test(text) && !namesParam && isUnknown(text);
}

function humblerText(dialect: Dialect, text: string, namesParam: boolean): Dialect | null {
  const aboutFormat = ABOUT_FORMAT.test(text);
  if (!aboutFormat && !isUnspecific(text, namesParam)) return null;
  const format = humblerFormat(dialect.format, aboutFormat && ABOUT_SCHEMA.test(text));
  if (format !== null) return { ...dialect, format };
  return dialect.usage && !aboutFormat ? { ...dialect, usage: false } : null;
}

function humblerFormat(format: Dialect['format'], aboutSchema: boolean): Dialect['format'] | null {
  switch (format) {
    case 'strict_schema':
      return aboutSchema ? 'json_schema' : 'json_object';
    case 'json_schema':
      return 'json_object';
    case 'json_object':
      return 'text';
    case 'text':
      return null;
    default: {
      const never: never = format;
      return never;
    }
  }
}

const ABOUT_STRICT = /\bstrict\b|invalid schema|invalid_function_parameters|additional_?properties|not permitted/iu;
const ABOUT_TOOLS = /\btools?\b|\btool_?(calls?|use|choice)\b|\bfunctions?\b|function[- _]?call/iu;

/** What a refused request was. */
interface Refused {
  /** What was said of it. */
  readonly text: string;
  readonly namesParam: boolean;
  /** Whether it offered tools beside the reply, and not in words. */
  readonly isOffering: boolean;
}

/** Whether a refusal is about tools, in a request that could do without. */
function isAboutTools(text: string): boolean {
  return ABOUT_TOOLS.test(text);
}

/** The next humbler way to offer tools beside a reply in text: with less of a schema, then in words. */
function humblerOffers(dialect: Dialect, text: string): Dialect {
  const isPlainNext = dialect.offers === 'strict' && ABOUT_STRICT.test(text);
  return { ...dialect, offers: isPlainNext ? 'plain' : 'words' };
}

/**
 * The next humbler way to ask for a tool call: with less of a choice, then with less of a schema, then with the tools that are offered
 * beside it told in words. Never without the tool.
 */
function humblerTool(dialect: Dialect, { text, namesParam, isOffering }: Refused): Dialect | null {
  if (isNoCall(text)) return null;
  const inWords: Dialect | null = isOffering ? { ...dialect, offers: 'words' } : null;
  const lessChoice = isOffering ? lessOfAny(dialect) : lessOfOne(dialect);
  if (isAboutToolChoice(text)) return lessChoice ?? inWords;
  if (ABOUT_STRICT.test(text)) {
    if (isOffering && dialect.offers === 'strict') return { ...dialect, offers: 'plain' };
    if (dialect.strictTool) return { ...dialect, strictTool: false };
    if (inWords !== null) return inWords;
  }
  if (namesParam || refusesTools(text) || !isUnknown(text)) return null;
  if (inWords !== null) return inWords;
  if (dialect.strictTool) return { ...dialect, strictTool: false };
  return lessChoice ?? (dialect.usage ? { ...dialect, usage: false } : null);
}

const LESS = { named: 'required', required: 'auto', auto: 'unsaid', unsaid: null } as const;

function lessOfOne(dialect: Dialect): Dialect | null {
  const toolChoice = LESS[dialect.toolChoice];
  return toolChoice === null ? null : { ...dialect, toolChoice };
}

function lessOfAny(dialect: Dialect): Dialect | null {
  const anyChoice = LESS[dialect.anyChoice];
  return anyChoice === null ? null : { ...dialect, anyChoice };
}
