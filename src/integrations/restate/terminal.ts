import { TerminalError } from '@restatedev/restate-sdk';
import { PostChainError } from '../../../machines/contracts/error.ts';

/** A refusal that is no better the next time: Restate does not try again, and the caller gets code 400. */
export function terminal(error: unknown): unknown {
  if (!(error instanceof PostChainError)) return error;
  return new TerminalError(`${error.code}: ${error.message}`, { errorCode: 400 });
}
