import * as z from 'zod/mini';
import type { Failure, FailureStage } from '../../../machines/contracts/failure.ts';
import type { ModelPart } from '../../../machines/contracts/model.ts';
import type { TokenUsage } from '../../../machines/contracts/usage.ts';
import { ResponseTooLarge } from '../../internal/bounded-body.ts';
import { isModuleMissing } from '../../internal/optional-package.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { TransportError } from '../../internal/transport-error.ts';
import type { OpenAISettings } from './options.ts';
import {
  isFailedGeneration,
  isPromptTooLong,
  REJECTION_STATUSES,
  rejectsTools,
  type ServerError,
  serverError,
} from './server-errors.ts';

type ModelFailureCode =
  | 'unauthorized'
  | 'bad_request'
  | 'prompt_too_long'
  | 'tools_unsupported'
  | 'rate_limited'
  | 'insufficient_quota'
  | 'request_timeout'
  | 'conflict'
  | 'server_error'
  | 'connection_failed'
  | 'stream_cut'
  | 'garbled_reply'
  | 'response_too_large'
  | 'refused'
  | 'generation_failed'
  | 'redirected'
  | 'proxy_failed'
  | 'client_missing'
  | 'unexpected';

interface Details {
  readonly stage?: FailureStage;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | null;
  readonly status?: number | null;
}

/** Returns a transport failure that is not retryable by default. */
export function failure(code: ModelFailureCode, message: string, details: Details = {}): Failure {
  return {
    stage: 'transport',
    code,
    message,
    retryable: false,
    retryAfterMs: null,
    status: null,
    issues: [],
    ...details,
  };
}

/** The failure of a reply that ended without its last part. */
export const CUT = failure('stream_cut', 'the reply ended before it was complete', { retryable: true });

/** Returns the last part of a reply that failed, with the usage that the server reported. */
export function failedPart(cause: Failure, usage: TokenUsage | null): ModelPart {
  return { type: 'failure', failure: cause, ...(usage !== null && { usage }) };
}

/** Recognizes the openai client's errors by their members, because the client is loaded lazily and may be installed twice. */
export function openAIFailure(thrown: unknown, settings: OpenAISettings): Failure {
  const reported = serverError(thrown);
  if (reported !== null) {
    const responses = settings.api === 'responses' ? '; not every server has the Responses API' : '';
    const where =
      reported.status === 404 ? ` at ${settings.baseURL} (the base URL usually ends in /v1${responses})` : '';
    return serverFailure(reported, where, settings);
  }
  if (isModuleMissing(thrown)) {
    const message = 'openaiModel requires the package "openai", which is not installed; run: npm install openai';
    return failure('client_missing', message, { stage: 'unexpected' });
  }
  const tooLarge = causesOf(thrown).find((error) => error instanceof ResponseTooLarge);
  if (tooLarge !== undefined) {
    const message = `the model server sent ${tooLarge.message}, and the rest was not read; raise maxResponseBytes if such a response is expected`;
    return failure('response_too_large', message);
  }
  const undelivered = causesOf(thrown).find((error) => error instanceof TransportError);
  if (undelivered !== undefined)
    return failure(undelivered.reason, undelivered.message, { retryable: undelivered.isRetryable });
  const code = systemCode(thrown);
  if (code !== null && COMPRESSION.test(code)) {
    const message = `the reply cannot be decompressed (${code}); retry, or check the server or proxy that compresses it`;
    return failure('garbled_reply', message, { retryable: true });
  }
  if (thrown instanceof SyntaxError || thrown instanceof z.core.$ZodError || code?.startsWith('HPE_')) {
    const message = 'the reply is not in the format of OpenAI’s API; check the base URL, or retry';
    return failure('garbled_reply', message, { retryable: true });
  }
  const why = code === null ? '' : ` (${code})`;
  if (isConnectionError(thrown)) {
    const own = settings.fetch === undefined ? null : ownMessage(thrown);
    if (own !== null) {
      const message = `the custom fetch failed${why}: ${redactSecrets(own, settings.secrets)}`;
      return failure('connection_failed', message, { retryable: true });
    }
    const { origin } = new URL(settings.baseURL);
    const message = CLOSED.has(code ?? '')
      ? `${origin} closed the connection before it responded${why}; check that it is an HTTP server, and its log`
      : `cannot connect to ${origin}${why}; check that the server is running`;
    return failure('connection_failed', message, { retryable: true });
  }
  if (code !== null || isCut(thrown)) {
    return failure('stream_cut', `the connection was lost during the reply${why}`, { retryable: true });
  }
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return failure('unexpected', `the call failed: ${redactSecrets(text, settings.secrets)}`, { stage: 'unexpected' });
}

/** All of the client's errors have `requestID`. Those without a status and a body are about the connection. */
function isConnectionError(thrown: unknown): boolean {
  return thrown instanceof Error && 'requestID' in thrown;
}

/** Returns the message of an error that a custom `fetch` threw; null for an error of the platform, whose message adds nothing. */
function ownMessage(thrown: unknown): string | null {
  const [, error] = causesOf(thrown);
  const isFromPlatform = error === undefined || 'syscall' in error || error.message === 'fetch failed';
  return isFromPlatform ? null : error.message;
}

/** Whether `fetch` reports that a body ended early. */
function isCut(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === 'terminated';
}

/** The codes of zlib and brotli. */
const COMPRESSION = /^(Z_|ERR__ERROR_|ERR_BROTLI|ERR_ZLIB)/u;

/** The codes of a connection that was established and then closed. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Returns the innermost code in the chain of causes, for example ECONNREFUSED. */
export function systemCode(thrown: unknown): string | null {
  const codes = causesOf(thrown).map((error) => (error as { code?: unknown }).code);
  return codes.findLast((code) => typeof code === 'string') ?? null;
}

/** Returns an error and its causes, outermost first. A host with several addresses fails with several errors; the first counts. */
function causesOf(thrown: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let error = thrown; error instanceof Error && causes.length < 8; ) {
    causes.push(error);
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return causes;
}

/** Returns the failure for a server's error, with the delay that the server requests before a retry. `where` describes the server or is empty. */
export function serverFailure(
  error: ServerError,
  where: string,
  { now, secrets }: Pick<OpenAISettings, 'now' | 'secrets'>,
): Failure {
  const { status } = error;
  const [code, retryable] = classify(error);
  if (isFailedGeneration(error)) return failedGeneration(error, secrets);
  const wait = retryable ? retryAfterMs(error.headers, now) : null;
  const until = wait === null || wait < 1_000 ? '' : ` and asks to wait ${seconds(wait)} before the next request`;
  const text = redactSecrets(error.text, secrets);
  const message = `the model server responded with ${status}${where}${until}: ${text}`;
  return failure(code, message, { retryable, retryAfterMs: wait, status });
}

/** The server accepted the request but could not use what the model wrote, so another reply may be valid. */
function failedGeneration({ status, text, generation }: ServerError, secrets: readonly string[]): Failure {
  const written = generation === null ? '' : `; the model wrote: ${generation}`;
  const message = `the model server could not use the model's reply: ${redactSecrets(`${text}${written}`, secrets)}`;
  return failure('generation_failed', message, { stage: 'extraction', retryable: true, status });
}

function seconds(milliseconds: number): string {
  return `${Math.ceil(milliseconds / 1_000).toLocaleString('en-US')} s`;
}

function classify(error: ServerError): readonly [ModelFailureCode, boolean] {
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
 * Returns the delay that the server requests, in milliseconds, or null: `retry-after-ms` (OpenAI's), otherwise `Retry-After` in seconds or
 * as an HTTP date (RFC 9110, 10.2.3). A date in the past is 0.
 */
function retryAfterMs(headers: Headers | null, now: () => number): number | null {
  const milliseconds = decimal(headers?.get('retry-after-ms'));
  if (milliseconds !== null) return milliseconds;
  const retryAfter = headers?.get('retry-after');
  const seconds = decimal(retryAfter);
  if (seconds !== null) return seconds * 1000;
  const date = retryAfter && /^[A-Z][a-z]{2,8},? /u.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now());
}

function decimal(text: string | null | undefined): number | null {
  return text && /^\s*\d{1,12}(\.\d+)?\s*$/u.test(text) ? Number(text) : null;
}

/** If the model does not support tools, the message suggests `replyForm: 'text'`. */
export function toolCallFailure(failure: Failure): Failure {
  const { status, message } = failure;
  const isRejection = status !== null && (REJECTION_STATUSES.has(status) || status === 500);
  if (!isRejection || failure.code === 'prompt_too_long' || !rejectsTools(message)) return failure;
  const unsupported = `this model does not seem to support tool calls; use replyForm: 'text' instead (${message})`;
  return { ...failure, code: 'tools_unsupported', message: unsupported, retryable: false, retryAfterMs: null };
}
