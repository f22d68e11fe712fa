import { expect } from 'vitest';
import { PostChainError } from '../../machines/contracts/error.ts';

/** Returns the code and message of the PostChainError that `act` throws; null if it does not throw. Rethrows other errors. */
export function caughtError(act: () => unknown): { readonly code: string; readonly message: string } | null {
  try {
    act();
    return null;
  } catch (error) {
    if (error instanceof PostChainError) return { code: error.code, message: error.message };
    throw error;
  }
}

/** Returns the PostChainError that `act` throws. Rethrows other errors, and throws if `act` does not. */
export function errorOf(act: () => unknown): PostChainError {
  try {
    act();
  } catch (error) {
    if (error instanceof PostChainError) return error;
    throw error;
  }
  throw new Error('expected an error');
}

/** Matches an error with a code and a message that has this part. */
export const anError = (code: string, says: string | RegExp): object => {
  const message = typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says);
  return expect.objectContaining({ code, message });
};

/** Returns a function that throws an error. */
export const throwing = (message: string) => (): never => {
  throw new Error(message);
};

/** Returns the PostChainError that a promise rejects with; null if it resolves. Rethrows other errors. */
export async function rejectionOf(promise: Promise<unknown>): Promise<PostChainError | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (error instanceof PostChainError) return error;
    throw error;
  }
}
