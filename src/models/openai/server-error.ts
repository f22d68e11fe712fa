import { z } from 'zod';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { Refusal } from './dialect.ts';
import { failure, type ModelFailureCode } from './failure.ts';
import type { OpenAISettings } from './options.ts';
import { isPromptTooLong } from './prompt-too-long.ts';

/** What a server said went wrong: by its HTTP status, or in mid-stream, where `status` is null unless the error names one. */
export interface ServerError extends Refusal {
  readonly code: string | null;
  readonly headers: Headers | null;
}

const wordOrNull = z.string().min(1).nullable().catch(null);
const errorBodySchema = z
  .object({ code: z.union([z.string(), z.int()]).nullable().catch(null), type: wordOrNull, param: wordOrNull })
  .catch({ code: null, type: null, param: null });

/** Names of errors that come without a status, in mid-stream. */
const STATUS_OF: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  invalid_api_key: 401,
  authentication_error: 401,
  insufficient_quota: 429,
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
};

/** The server's word in an error that the openai client threw (`status`, `error`) or that a chunk held (`error`), else null. */
export function serverError(thrown: unknown): ServerError | null {
  if (!(thrown instanceof Error)) return null;
  const { status, error, headers } = thrown as { status?: unknown; error?: unknown; headers?: unknown };
  if (typeof status !== 'number' && (error === undefined || error === null)) return null;
  const { code, type, param } = errorBodySchema.parse(error);
  const name = typeof code === 'string' ? code : type;
  const named = typeof code === 'number' && code >= 400 && code < 600 ? code : STATUS_OF[name ?? ''];
  return {
    status: typeof status === 'number' ? status : (named ?? 500),
    text: thrown.message.replace(/^\d{3} /u, ''),
    param,
    code: name,
    headers: headers instanceof Headers ? headers : null,
  };
}

/** @see A13: what is hopeless is not tried again, and the server's wish to be left alone for a while is passed on. */
export function serverFailure(error: ServerError, settings: OpenAISettings): Failure {
  const { status } = error;
  const [code, retryable] = judge(error);
  const where = status === 404 ? ` at ${settings.baseURL} (should it end in /v1?)` : '';
  const message = `the model server answered ${status}${where}: ${redactSecrets(error.text, settings.secrets)}`;
  const wait = retryable ? retryAfterMs(error.headers, settings.now) : null;
  return failure(code, message, { retryable, retryAfterMs: wait, status });
}

function judge(error: ServerError): readonly [ModelFailureCode, boolean] {
  const { status, code } = error;
  if (isPromptTooLong(error)) return ['prompt_too_long', false];
  if (status === 401 || status === 403) return ['unauthorized', false];
  if (status === 402 || code === 'insufficient_quota') return ['insufficient_quota', false];
  if (status === 408) return ['request_timeout', true];
  if (status === 409) return ['conflict', true];
  if (status === 429) return ['rate_limited', true];
  return status >= 500 ? ['server_error', status !== 501] : ['bad_request', false];
}

/**
 * How long the server asks to wait, in milliseconds, or null: `retry-after-ms` (OpenAI's), else `Retry-After` in seconds or as
 * an HTTP date (RFC 9110, 10.2.3). A date that has passed is 0.
 */
function retryAfterMs(headers: Headers | null, now: () => number): number | null {
  const milliseconds = decimal(headers?.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const asked = headers?.get('retry-after');
  const seconds = decimal(asked);
  if (seconds !== null) return seconds * 1000;
  const date = asked && /^[A-Z][a-z]{2,8},? /u.test(asked) ? Date.parse(asked) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now());
}

function decimal(text: string | null | undefined): number | null {
  return text && /^\s*\d{1,12}(\.\d+)?\s*$/u.test(text) ? Number(text) : null;
}
