import type { Transport } from '@modelcontextprotocol/client';

/** The longest message, in bytes, that a server is listened to: what it says must fit in memory. */
export const MAX_MESSAGE_BYTES = 10_000_000;

/** A transport of the SDK, and what is known of the server at its other end. */
export interface Wire {
  readonly transport: Transport;
  /** Aborts, with an Error that says why, when the server can be spoken to no more. */
  readonly gone: AbortSignal;
  /** The server forgot who we are: it must be connected anew. Says whether that can be what such an answer means. */
  isSessionLost(error: unknown): boolean;
  /**
   * Ends the connection, and waits until nothing is left of it; never rejects. Where `isFailing`, nothing is asked of the server
   * any more, and its process is not waited for long.
   */
  end(isFailing: boolean): Promise<void>;
}
