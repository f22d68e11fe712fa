import type { Turn } from '../contracts/chain-state.ts';
import type { GuardResult } from '../contracts/decision.ts';

const KEPT = 64;

/** How often the run has already continued with the same phase and content. */
export function countRepeats(history: readonly Turn[], next: Pick<Turn, 'target' | 'fingerprint'>): number {
  return history.filter((turn) => turn.target === next.target && turn.fingerprint === next.fingerprint).length;
}

/** Whether continuing would be repetition number `loopRepeats`. */
export function repeatLimitReached(repeats: number, loopRepeats: number): GuardResult {
  return { holds: repeats + 1 >= loopRepeats, inputs: { repeats, loopRepeats } };
}

/** The history with one more turn; the newest 64 are kept. */
export function remember(history: readonly Turn[], turn: Turn): readonly Turn[] {
  return [...history.slice(-(KEPT - 1)), turn];
}
