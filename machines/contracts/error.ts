/** Stable codes: branch on these, not on the message. */
export type ErrorCode =
  | 'invalid_request'
  | 'unsupported_file'
  | 'invalid_option'
  | 'invalid_path'
  | 'invalid_key'
  | 'invalid_schema'
  | 'invalid_journal'
  | 'unknown_journal'
  | 'journal_exists'
  | 'journal_held'
  | 'journal_fenced'
  | 'journal_failed'
  | 'diverged'
  | 'not_durable'
  | 'port_missing'
  | 'unscripted_call'
  | 'duplicate_capability'
  | 'attempts_exhausted'
  | 'budget_exhausted'
  | 'no_event'
  | 'event_ignored'
  | 'not_repairable'
  | 'embedding_failed'
  | 'session_failed'
  | 'mcp_failed'
  | 'package_missing'
  | 'exploration_failed'
  | 'path_failed'
  | 'cancelled'
  | 'internal';

/** Foreign text in a message must not add lines to a log, control a terminal or reorder the rest. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

const MARK = Symbol.for('postchain.error');

/**
 * The only error class of PostChain. It is thrown before a run starts (invalid request, option, path, key or schema, or a
 * file that no model accepts) or for a programming mistake (a missing actor); within a run, every failure ends in the answer. Structured output used
 * on its own has no answer: if it gets no value, its promise rejects with `attempts_exhausted` or `cancelled`. A
 * session store used on its own rejects with `session_failed`.
 * The message is one line: what failed, what was received, what is expected, what to do.
 */
export class PostChainError extends Error {
  override readonly name: string = 'PostChainError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message.replace(UNPRINTABLE, ' '), options);
    this.code = code;
    Object.defineProperty(this, MARK, { value: true });
  }

  /** Whether a value is an error of PostChain, also of another copy of the package. */
  static isInstance(value: unknown): value is PostChainError {
    return value instanceof Error && MARK in value;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: subclasses inherit this method
    return isInstanceOf(this, value);
  }
}

function isInstanceOf(Class: unknown, value: unknown): boolean {
  return Class === PostChainError
    ? PostChainError.isInstance(value)
    : Function.prototype[Symbol.hasInstance].call(Class, value);
}
