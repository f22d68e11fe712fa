import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo } from './sorted.ts';

export type EventOutcome =
  /** Transitions, by their entries. */
  | { readonly kind: 'transitions'; readonly transitions: readonly number[] }
  /** Handled by actions, without exiting or entering a state. */
  | { readonly kind: 'handled' }
  /** There are transitions for it, but all guards were false. */
  | { readonly kind: 'guards-false'; readonly guards: readonly string[] }
  | { readonly kind: 'no-transition' }
  /** Effects may still follow. */
  | { readonly kind: 'pending' };

interface OutcomeContext {
  readonly fold: RunFold;
  /** Nothing more will follow the last entry. */
  readonly ended: boolean;
}

/** The outcome of an external event of a run, as the entries after it record it. */
export function eventOutcome({ seq }: JournalEntry & ExternalEvent, { fold, ended }: OutcomeContext): EventOutcome {
  const { externalEvents, transitions: all } = fold;
  const { to } = externalEvents.stepOf(seq);
  const transitions = all.seqs.slice(countUpTo(all.seqs, seq), countUpTo(all.seqs, to - 1));
  if (transitions.length > 0) return { kind: 'transitions', transitions };
  const { isHandled, ignored } = externalEvents.outcomeOf(seq);
  if (ignored.length > 0) return { kind: 'guards-false', guards: ignored };
  if (!ended && !Number.isFinite(to)) return { kind: 'pending' };
  return { kind: isHandled ? 'handled' : 'no-transition' };
}
