import { ZodError } from 'zod';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { failure } from './failure.ts';
import type { OpenAISettings } from './options.ts';
import { serverError, serverFailure } from './server-error.ts';

/**
 * Whatever a call threw, as a failure [A10, A13]. The openai client's classes are told by their members, since the client is
 * loaded only when it is needed and may be there twice.
 */
export function failureOf(thrown: unknown, settings: OpenAISettings): Failure {
  const said = serverError(thrown);
  if (said !== null) return serverFailure(said, settings);
  const code = systemCode(thrown);
  if (code === 'ERR_MODULE_NOT_FOUND') {
    const message = "the package 'openai' is not installed beside postchain; run npm install openai";
    return failure('client_missing', message, { stage: 'unexpected' });
  }
  if (thrown instanceof SyntaxError || thrown instanceof ZodError || code?.startsWith('HPE_')) {
    const message = 'the reply was no chat completion that could be read; check the base URL, or try again';
    return failure('garbled_reply', message, { retryable: true });
  }
  const why = code === null ? '' : ` (${code})`;
  if (isConnectionError(thrown)) {
    const message = `no connection to ${new URL(settings.baseURL).origin}${why}; is the server running?`;
    return failure('connection_failed', message, { retryable: true });
  }
  if (code !== null || isCut(thrown)) {
    return failure('stream_cut', `the connection broke in mid-reply${why}`, { retryable: true });
  }
  const text = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return failure('unexpected', `the call failed: ${redactSecrets(text, settings.secrets)}`, { stage: 'unexpected' });
}

/** The client's errors all carry `requestID`; without a status and a body they are about the connection. */
function isConnectionError(thrown: unknown): boolean {
  return thrown instanceof Error && 'requestID' in thrown;
}

/** How `fetch` says that a body ended too early. */
function isCut(thrown: unknown): boolean {
  return thrown instanceof TypeError && thrown.message === 'terminated';
}

/** The innermost code in the chain of causes, say ECONNREFUSED; a name with several addresses fails with several errors. */
function systemCode(thrown: unknown): string | null {
  let code: string | null = null;
  for (let error = thrown, depth = 0; error instanceof Error && depth < 8; depth += 1) {
    if ('code' in error && typeof error.code === 'string') code = error.code;
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return code;
}
