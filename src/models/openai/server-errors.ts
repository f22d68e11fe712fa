import * as z from 'zod/mini';

/** A rejected request: its HTTP status, the server's message, and the parameter that it names, if any. */
export interface ServerRejection {
  readonly status: number;
  readonly text: string;
  readonly param: string | null;
}

/** An error reported by a server, as an HTTP response or within a stream. */
export interface ServerError extends ServerRejection {
  readonly code: string | null;
  /** What the model wrote, if the server could not use it (Groq). */
  readonly generation: string | null;
  readonly headers: Headers | null;
}

const wordOrNull = z.catch(z.nullable(z.string().check(z.minLength(1))), null);
const wordOrNumber = z.catch(z.nullish(z.union([z.string(), z.int()])), null);
const errorBodySchema = z.object({
  code: wordOrNumber,
  status: wordOrNumber,
  statusCode: wordOrNumber,
  status_code: wordOrNumber,
  type: wordOrNumber,
  param: wordOrNull,
  failed_generation: wordOrNull,
});
type ErrorBody = Partial<z.infer<typeof errorBodySchema>>;

/** Statuses of errors within a stream, which have a name only. Names are compared in lower case, with underscores. */
const STATUS_OF: Readonly<Record<string, number>> = {
  context_length_exceeded: 400,
  tool_use_failed: 400,
  json_validate_failed: 400,
  insufficient_quota: 429,
  request_too_large: 413,
  overloaded_error: 529,
};

/** Words in the names of errors, from many servers; the first match counts. */
const NAMED: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|request_limit|throttl|too_many|resource_exhausted/u, 429],
  [/quota|billing|payment|credit|balance|budget|insufficient_funds/u, 402],
  [/permission|forbidden|access_(?:denied|terminated)|account_|country|not_allowed/u, 403],
  [/(?:^|_|o)auth|unauth|api_?key|token_(?:expired|invalid)|(?:invalid|expired)_token|credential/u, 401],
  [/not_?found|no_such|does_not_exist|unknown_model/u, 404],
  [/overload|unavailable|capacity|busy/u, 503],
  [/time_?out|timed_out|deadline/u, 504],
  [/internal|server_error|api_error/u, 500],
  [
    /invalid|bad_?request|validation|unsupported|not_supported|malformed|unprocessable|policy|moderation|precondition|content_filter/u,
    400,
  ],
];

/** Returns the HTTP status that a code or a name stands for, as a number or as text; null if it is unknown. */
function statusNamed(name: string | number | null | undefined): number | null {
  const code = Number(name);
  if (Number.isInteger(code) && code >= 400 && code < 600) return code;
  const word = String(name ?? '')
    .slice(0, MAX_NAME_CHARS)
    .replaceAll(/([a-z\d])([A-Z])/gu, '$1_$2')
    .replaceAll(/[\s-]+/gu, '_')
    .toLowerCase();
  return (
    (Object.hasOwn(STATUS_OF, word) ? STATUS_OF[word] : NAMED.find(([pattern]) => pattern.test(word))?.[1]) ?? null
  );
}

const MAX_NAME_CHARS = 100;

/** Some servers send an error as a sentence. */
const KEY_REJECTED =
  /\b(?:invalid|incorrect|missing|expired) (?:api[ _-]?)?key\b|\bunauthori[sz]ed\b|\bauthentication (?:failed|error)\b/iu;

/** Error texts are searched with patterns, which would take long in a hostile text. */
const MAX_TEXT_CHARS = 8_000;

/** Returns the server's error from an error that the openai client threw (`status`, `error`) or a chunk contained (`error`), otherwise null. */
export function serverError(thrown: unknown): ServerError | null {
  if (!(thrown instanceof Error)) return null;
  const { status, error, headers } = thrown as { status?: unknown; error?: unknown; headers?: unknown };
  if (typeof status !== 'number' && (error === undefined || error === null)) return null;
  const body: ErrorBody = errorBodySchema.safeParse(error).data ?? {};
  const { code, type, param = null, failed_generation: generation = null } = body;
  const names = [code, body.statusCode, body.status_code, body.status, type];
  const named = names.map(statusNamed).find((one) => one !== null);
  const text = thrown.message.slice(0, MAX_TEXT_CHARS).replace(/^\d{3} /u, '');
  const isSentence = typeof error === 'string' && KEY_REJECTED.test(text);
  return {
    status: typeof status === 'number' ? status : (named ?? (isSentence ? 401 : 500)),
    text,
    param,
    code:
      [code, type].find((one) => typeof one === 'string' && !/^(?:\d+|none|null)?$/iu.test(one))?.toString() ?? null,
    generation,
    headers: headers instanceof Headers ? headers : null,
  };
}

export const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 404, 422, 501]);

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
