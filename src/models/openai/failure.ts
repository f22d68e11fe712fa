import type { Failure, FailureStage } from '../../../machines/contracts/failure.ts';

/** The stable codes of a model's failures. */
export type ModelFailureCode =
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
  | 'refused'
  | 'client_missing'
  | 'unexpected';

interface Details {
  readonly stage?: FailureStage;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number | null;
  readonly status?: number | null;
}

/** A failure of transport that is not worth a retry, unless told otherwise. */
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
