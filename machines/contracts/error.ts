/** Stable codes: branch on these, never on the message. */
export type ErrorCode =
  | 'invalid_request'
  | 'invalid_option'
  | 'invalid_path'
  | 'invalid_key'
  | 'invalid_schema'
  | 'invalid_journal'
  | 'port_missing'
  | 'unscripted_call'
  | 'duplicate_capability'
  | 'attempts_exhausted'
  | 'embedding_failed'
  | 'session_failed'
  | 'mcp_failed'
  | 'package_missing'
  | 'exploration_failed'
  | 'path_failed'
  | 'cancelled'
  | 'internal';

/**
 * The one error class of PostChain. It is only ever thrown before a run starts (a bad request, option, path, key or schema)
 * or for a programming mistake (a port left out); within a run everything that goes wrong ends in the answer. Structured output
 * used by itself has no answer to end in: where there is no value, its promise rejects with `attempts_exhausted` or `cancelled`. A session store
 * that is asked by itself rejects with `session_failed`.
 *
 * The message is one line: what was got, what is wanted, what to do.
 */
export class PostChainError extends Error {
  override readonly name: string = 'PostChainError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
