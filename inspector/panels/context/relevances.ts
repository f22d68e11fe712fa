import type { ChainState } from '../../../machines/contracts/chain-state.ts';

export interface Rated {
  readonly relevance: number;
  readonly reason: string;
}

/** How relevant the model called the messages when Understanding last asked it; by message. */
export function relevances(state: ChainState | null): ReadonlyMap<string, Rated> {
  const reply = state?.evaluation?.reply ?? state?.results?.understanding?.reply;
  return new Map((reply?.assessments ?? []).map(({ messageId, ...rated }) => [messageId, rated]));
}
