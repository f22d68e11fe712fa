import { PostChainError } from '../../machines/contracts/error.ts';

/** Whether an error is one of PostChain, with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  PostChainError.isInstance(error) && codes.includes(error.code);

/** Whether a journal cannot be used because another process holds it, has taken it over, or has deleted it: a lost race, not a failure. */
export const isRaceLost = (error: unknown): boolean =>
  hasCode(error, 'journal_held', 'journal_fenced', 'unknown_journal');

/** Rejects for an actor that another process holds, without naming the option that only `open` has. */
export function rejectHeld(error: unknown): never {
  if (!PostChainError.isInstance(error) || error.code !== 'journal_held') throw error;
  const [held] = error.message.split('; wait until');
  throw new PostChainError(
    'journal_held',
    `${held}; act on the actor in that process, wait until it ends or parks the actor ("parkAfterMs"), or stop that process`,
    { cause: error },
  );
}
