import { PostChainError } from '../../machines/contracts/error.ts';

/** Whether a journal cannot be used because another process holds it, has taken it over, or has deleted it: a lost race, not a failure. */
export const isRaceLost = (error: unknown): boolean =>
  PostChainError.isInstance(error) && ['journal_held', 'journal_fenced', 'unknown_journal'].includes(error.code);
