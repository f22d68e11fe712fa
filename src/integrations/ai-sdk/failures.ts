import type { Failure } from '../../../machines/contracts/failure.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { CUT, failure, serverFailure, systemCode } from '../../models/openai/failures.ts';
import { type ServerError, serverError } from '../../models/openai/server-errors.ts';

/** No failure message contains one of `secrets`. */
export interface FailureSettings {
  readonly secrets: readonly string[];
  readonly now: () => number;
}

/**
 * Returns a failure for an error that a language model threw or sent in its stream: with the same stage, code, status and wait as the OpenAI
 * model reports. Errors are recognized by their names and members, because several versions of `@ai-sdk/provider` may be installed.
 */
export function aiSdkFailure(given: unknown, settings: FailureSettings): Failure {
  const thrown = lastErrorOf(given);
  const reported = reportedError(thrown);
  if (reported !== null) return serverFailure(withoutKeys(reported), '', settings);
  const text = redactSecrets(maskKeys(textOf(thrown)), settings.secrets);
  const name = nameOf(thrown);
  const code = systemCode(thrown);
  const why = code === null ? '' : ` (${code})`;
  if (name === 'AI_InvalidResponseDataError' && (thrown as CallError).data === undefined) return CUT;
  if (name === 'AI_APICallError' && (thrown as CallError).statusCode === undefined) {
    const message = `cannot connect to ${originOf(thrown as CallError)}${why}; check that the server is running`;
    return failure('connection_failed', message, { retryable: true });
  }
  if (name === 'AI_LoadAPIKeyError' || name === 'AI_LoadSettingError') return failure('unauthorized', text);
  if (code !== null || (thrown instanceof TypeError && thrown.message === 'terminated')) {
    return failure('stream_cut', `the connection was lost during the reply${why}`, { retryable: true });
  }
  if (GARBLED.test(name) || name === 'AI_APICallError') {
    return failure('garbled_reply', `the provider's reply is not valid: ${text}`, { retryable: true });
  }
  if (REJECTED.test(name)) return failure('bad_request', text);
  return failure('unexpected', `the call failed: ${name === '' ? '' : `${name}: `}${text}`, { stage: 'unexpected' });
}

/** The reply cannot be read, even if its status is 200. */
const GARBLED = /^AI_(JSONParse|TypeValidation|EmptyResponseBody|InvalidResponseData|NoContentGenerated)Error$/u;

/** The request cannot be sent in the provider's format. */
const REJECTED = /^AI_(UnsupportedFunctionality|InvalidPrompt|InvalidArgument|NoSuchModel|TooManyEmbedding\w*)Error$/u;

interface CallError extends Error {
  readonly url?: unknown;
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly data?: unknown;
}

/** Returns the server's error: a response with an error status, or an error object within a stream. Otherwise null. */
export function reportedError(given: unknown): ServerError | null {
  const thrown = lastErrorOf(given);
  if (nameOf(thrown) === 'AI_APICallError') {
    const error = thrown as CallError;
    if (typeof error.statusCode !== 'number' || error.statusCode < 400) return null;
    const reported = errorObject(error.data) ?? errorObject(error.responseBody);
    const inner = serverError(Object.assign(new Error(error.message), { status: error.statusCode, error: reported }));
    return inner && { ...inner, headers: headersOf(error) };
  }
  if (thrown instanceof Error) return null;
  const reported = errorObject(thrown);
  if (reported === null) return null;
  const text = [reported['message'], reported['error']].find((value) => typeof value === 'string') ?? jsonOf(reported);
  return serverError(Object.assign(new Error(text), { error: reported }));
}

/** Returns the last error of a call that the AI SDK repeated, otherwise the error itself. */
function lastErrorOf(thrown: unknown): unknown {
  const { lastError } = nameOf(thrown) === 'AI_RetryError' ? (thrown as { readonly lastError?: unknown }) : {};
  return lastError ?? thrown;
}

/** Returns the innermost error object, which may be JSON: OpenAI and Google wrap it in `error`, and so does Anthropic within a stream. */
function errorObject(given: unknown, depth = 0): Readonly<Record<string, unknown>> | null {
  const value = typeof given === 'string' ? parsed(given) : given;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { error } = value as { readonly error?: unknown };
  return (depth < 4 ? errorObject(error, depth + 1) : null) ?? (value as Readonly<Record<string, unknown>>);
}

function parsed(text: string): unknown {
  if (!text.startsWith('{')) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Google sends its wait in the body, as the `retryDelay` of an error detail. */
function headersOf({ responseHeaders, responseBody }: CallError): Headers {
  const headers = new Headers();
  for (const name of ['retry-after-ms', 'retry-after']) {
    const value = (responseHeaders as Readonly<Record<string, unknown>> | undefined)?.[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const [, seconds] =
    /"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d+)?)s"/u.exec(String(responseBody ?? '').slice(0, 100_000)) ?? [];
  if (seconds !== undefined && !headers.has('retry-after')) headers.set('retry-after', seconds);
  return headers;
}

/**
 * Returns the error without possible keys in its texts: PostChain does not know the provider's key, and some servers repeat it. If the key
 * was rejected, every long word with a digit is hidden.
 */
function withoutKeys(error: ServerError): ServerError {
  const { status, text, generation } = error;
  const hidden = status === 401 || status === 403 ? text.replaceAll(LONG_WORD, hideWithDigit) : text;
  return { ...error, text: maskKeys(hidden), generation: generation && maskKeys(generation) };
}

const LONG_WORD = /[\w.~+/=-]{16,}/gu;

const hideWithDigit = (word: string): string => (/\d/u.test(word) ? '[key]' : word);

/**
 * Hides words that may be keys: with the prefix of a key; long and of uppercase letters, lowercase letters and digits; or longer, of
 * letters and digits, such as hexadecimal ones and UUIDs, unless they are readable.
 */
export function maskKeys(text: string): string {
  return firstChars(text, MAX_CHARS)
    .replaceAll(PREFIXED, '[key]')
    .replaceAll(LONG_WORD, (word) => (/[a-z]/u.test(word) && /[A-Z]/u.test(word) && /\d/u.test(word) ? '[key]' : word))
    .replaceAll(LONG_RUN, (run) => (/[a-z]/iu.test(run) && /\d/u.test(run) && !isReadable(run) ? '[key]' : run));
}

/** Longer texts are clipped anyway. */
const MAX_CHARS = 8_000;

const PREFIXED = /(?<![a-z\d])(?:(?:sk|pk|rk|key|gsk|xai|hf|nvapi|pplx|csk|fw|r8|tgp)[-_]|AIza)[\w-]{16,}/giu;

const LONG_RUN = /[\w-]{24,}/gu;

/** Whether a text is words, dates and versions with separators, as in names of models: `gpt-4o-realtime-preview-2024-12-17`. */
function isReadable(run: string): boolean {
  return run.split(/[-_]/u).every((piece) => /^(?:[a-z]{1,16}|\d{1,8}|[a-z\d]{1,3})$/u.test(piece));
}

function originOf({ url }: CallError): string {
  return typeof url === 'string' && URL.canParse(url) ? new URL(url).origin : 'the provider';
}

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

function textOf(thrown: unknown): string {
  return thrown instanceof Error
    ? thrown.message
    : `the model threw ${jsonOf(typeof thrown === 'string' ? thrown.replaceAll(/\s+/gu, ' ') : thrown)}`;
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return 'a value that is not JSON';
  }
}
