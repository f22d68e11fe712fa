import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { EntryOf } from './places.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

/** One transition as the journal names it, and the entries that took it. */
export interface TakenWay {
  readonly machine: string;
  readonly event: string;
  readonly source: string;
  readonly target: readonly string[];
  readonly guard: string | null;
  readonly seqs: readonly number[];
}

export interface MachineStanding {
  readonly targets: readonly string[];
  readonly since: number;
  /** Reached by an initial step, before any event. */
  readonly begins: boolean;
}

/** The configuration of each machine and the transitions taken. */
export interface TransitionLog {
  /** The entries of all transitions. */
  readonly seqs: readonly number[];
  readonly ways: readonly TakenWay[];
  readonly machines: readonly string[];
  /**
   * The targets of a machine's last transition at an entry. An empty list: it is in its initial state. Undefined: it
   * has not started.
   */
  standingAt(machine: string, seq: number): MachineStanding | undefined;
  /** All places of a machine, in order. */
  placesOf(machine: string): readonly MachineStanding[];
}

const NONE: readonly string[] = [];
const NOWHERE: readonly MachineStanding[] = [];

/** The machine of a model call; it starts again with each attempt. */
const ATTEMPT = 'attempt';

/** What the steps are called that a machine takes as it begins. */
const INIT = 'xstate.init';

export function createTransitionLog(): { readonly log: TransitionLog; take(entry: JournalEntry): void } {
  const seqs: number[] = [];
  const ways = new Map<string, TakenWay & { readonly seqs: number[] }>();
  const standing = new Map<string, { readonly seqs: number[]; readonly at: MachineStanding[] }>();

  function stands(machine: string, targets: readonly string[], since: number, begins: boolean): void {
    const places = standing.get(machine) ?? { seqs: [], at: [] };
    standing.set(machine, places);
    places.seqs.push(since);
    places.at.push({ targets, since, begins });
  }

  function takeTransition({ seq, machine, event, source, target, candidates }: EntryOf<'transition'>): void {
    const guard = candidates.find(({ verdict }) => verdict === 'taken')?.guard ?? null;
    const key = JSON.stringify([machine, event, source, target, guard]);
    const way = ways.get(key) ?? { machine, event, source, target, guard, seqs: [] };
    ways.set(key, way);
    way.seqs.push(seq);
    seqs.push(seq);
    if (target.length > 0) stands(machine, way.target, seq, event === INIT);
  }

  return {
    log: {
      seqs,
      get ways() {
        return [...ways.values()];
      },
      get machines() {
        return [...standing.keys()];
      },
      placesOf: (machine) => standing.get(machine)?.at ?? NOWHERE,
      standingAt(machine, seq) {
        const places = standing.get(machine);
        return places?.at[countUpTo(places.seqs, seq) - 1];
      },
    },
    take(entry) {
      if (entry.type === 'transition') takeTransition(entry);
      else if (entry.type === 'attempt-start') stands(ATTEMPT, NONE, entry.seq, true);
    },
  };
}

/** The last transition at or before an entry. */
export const transitionAt = (log: TransitionLog, seq: number): number | undefined => lastUpTo(log.seqs, seq);

/** The transitions before and after an entry, optionally of one machine only. */
export function transitionsAround(
  log: TransitionLog,
  { before, after, machine }: { readonly before: number; readonly after: number; readonly machine: string | null },
): { readonly earlier: number | undefined; readonly later: number | undefined } {
  const lists =
    machine === null ? [log.seqs] : log.ways.filter((way) => way.machine === machine).map(({ seqs }) => seqs);
  const earlier = lists.flatMap((seqs) => lastUpTo(seqs, before - 1) ?? []);
  const later = lists.flatMap((seqs) => seqs[countUpTo(seqs, after)] ?? []);
  return {
    earlier: earlier.length > 0 ? Math.max(...earlier) : undefined,
    later: later.length > 0 ? Math.min(...later) : undefined,
  };
}
