import { PostChainError } from '../../../machines/contracts/error.ts';

export function noSuchRun(runId: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `There is no run ${JSON.stringify(runId)} here; list() gives those that there are.`,
  );
}

export function runExists(runId: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `There is a run ${JSON.stringify(runId)} already; wanted an id that no other run has.`,
  );
}

/** `owner` says who writes it. */
export function runInUse(runId: string, owner: string): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `The run ${JSON.stringify(runId)} is under way in ${owner}; wait for it, or end that first.`,
  );
}
