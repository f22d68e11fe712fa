/** A request that failed at a proxy or a redirect. The message is for the user and contains no credentials. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly reason: 'redirected' | 'proxy_failed';
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;

  constructor(
    reason: TransportError['reason'],
    message: string,
    { isRetryable = false, cause }: { readonly isRetryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.reason = reason;
    this.isRetryable = isRetryable;
  }
}
