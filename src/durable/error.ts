/** Stable codes: branch on these, not on the message. */
export type DurableErrorCode =
  | 'invalid_option'
  | 'invalid_path'
  | 'invalid_journal'
  | 'unknown_journal'
  | 'journal_exists'
  | 'journal_held'
  | 'journal_fenced'
  | 'diverged'
  | 'not_durable'
  | 'journal_failed'
  | 'cancelled'
  | 'package_missing'
  | 'internal';

/** Foreign text in a message must not add lines to a log, control a terminal or reorder the rest. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu;

const MARK = Symbol.for('postchain.error');

/**
 * The error class of durable machines. The class in `machines/contracts/error.ts` has the same name and mark, so `instanceof` and `isInstance`
 * of each accept the errors of both, and those of other copies of the package.
 */
export class PostChainError extends Error {
  override readonly name: string = 'PostChainError';
  readonly code: DurableErrorCode;

  constructor(code: DurableErrorCode, message: string, options?: { cause?: unknown }) {
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

/** Whether a journal cannot be used because another process holds it, has taken it over, or has deleted it: a lost race, not a failure. */
export const isRaceLost = (error: unknown): boolean =>
  PostChainError.isInstance(error) && ['journal_held', 'journal_fenced', 'unknown_journal'].includes(error.code);

function isInstanceOf(Class: unknown, value: unknown): boolean {
  return Class === PostChainError
    ? PostChainError.isInstance(value)
    : Function.prototype[Symbol.hasInstance].call(Class, value);
}
