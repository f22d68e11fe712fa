import * as z from 'zod/mini';

/** A rejected request: its HTTP status, the server's message, and the parameter that it names, if any. */
export interface Rejection {
  readonly status: number;
  readonly text: string;
  readonly param: string | null;
}

/** An error reported by a server, as an HTTP response or within a stream. */
export interface ServerError extends Rejection {
  readonly code: string | null;
  /** What the model wrote, if the server could not use it (Groq). */
  readonly generation: string | null;
  readonly headers: Headers | null;
}

const wordOrNull = z.catch(z.nullable(z.string().check(z.minLength(1))), null);
const errorBodySchema = z.catch(
  z.object({
    code: z.catch(z.nullable(z.union([z.string(), z.int()])), null),
    type: wordOrNull,
    param: wordOrNull,
    failed_generation: wordOrNull,
  }),
  { code: null, type: null, param: null, failed_generation: null },
);

/** Statuses of errors within a stream, which have a name only. */
const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_prompt: 400,
  context_length_exceeded: 400,
  tool_use_failed: 400,
  json_validate_failed: 400,
  invalid_api_key: 401,
  authentication_error: 401,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
};

/** Error texts are searched with patterns, which would take long in a hostile text. */
const MAX_TEXT_CHARS = 8_000;

/** Returns the server's error from an error that the openai client threw (`status`, `error`) or a chunk contained (`error`), otherwise null. */
export function serverError(thrown: unknown): ServerError | null {
  if (!(thrown instanceof Error)) return null;
  const { status, error, headers } = thrown as { status?: unknown; error?: unknown; headers?: unknown };
  if (typeof status !== 'number' && (error === undefined || error === null)) return null;
  const { code, type, param, failed_generation: generation } = errorBodySchema.parse(error);
  const name = typeof code === 'string' ? code : type;
  const named = typeof code === 'number' && code >= 400 && code < 600 ? code : STATUS_OF[name ?? ''];
  return {
    status: typeof status === 'number' ? status : (named ?? 500),
    text: thrown.message.slice(0, MAX_TEXT_CHARS).replace(/^\d{3} /u, ''),
    param,
    code: name,
    generation,
    headers: headers instanceof Headers ? headers : null,
  };
}

export const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 404, 422, 501]);

const UNSUPPORTED =
  /not supported|unsupported|not support |unrecogni[sz]ed|unknown (field|parameter)|extra (inputs|fields)/iu;

export function isUnsupported(text: string): boolean {
  return UNSUPPORTED.test(text);
}

const CHOICE = /tool[_ ]?choice|forces? tool use/iu;
const NO_CALL = /did not call|failed to call|tool_use_failed/iu;
const TOOLS = /\btools?\b|\btool_?calls?\b|function[- _]?call/iu;
const NOT_SUPPORTED =
  /n[o']t support|unsupported|unknown|unrecogni[sz]ed|not (allowed|permitted|enabled|implemented|available)/iu;
const NOT_SERVED = /no endpoints|requires? --|extra (inputs|fields)/iu;

export function isAboutToolChoice(text: string): boolean {
  return CHOICE.test(text);
}

/** Groq's codes for a reply that is not a valid tool call, or not JSON. */
const FAILED: ReadonlySet<string> = new Set(['tool_use_failed', 'json_validate_failed']);

/** Whether the server accepted the request but not the model's reply, which Groq reports as a rejected request. */
export function isFailedGeneration({ status, code, text }: ServerError): boolean {
  return REJECTION_STATUSES.has(status) && (FAILED.has(code ?? '') || NO_CALL.test(text));
}

/** Whether a server reports that it, or this model, does not support tools. */
export function rejectsTools(text: string): boolean {
  return TOOLS.test(text) && (NOT_SUPPORTED.test(text) || NOT_SERVED.test(text)) && !NO_CALL.test(text);
}

const STATUSES: ReadonlySet<number> = new Set([400, 413, 422]);
const CODES: ReadonlySet<string> = new Set(['context_length_exceeded', 'exceed_context_size_error']);

const LIMIT = /(max(imum)?|model'?s|available|allowed) (context|prompt|input|model) (length|size|window)/iu;
const OVER =
  /prompt is too long|context_length_exceeded|exceeds? the (context|maximum number of tokens)|than the context length/iu;

/** Whether the prompt exceeds the model's context window, which neither another dialect nor a retry can fix. */
export function isPromptTooLong({ status, code, text }: ServerError): boolean {
  return STATUSES.has(status) && (CODES.has(code ?? '') || LIMIT.test(text) || OVER.test(text));
}
