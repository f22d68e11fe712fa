import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ActorPath } from '../../src/durable/entries.ts';
import type { EntryOf } from './entry-index.ts';
import { countUpTo } from './sorted.ts';

export interface RecordedTransition {
  readonly machine: string;
  readonly event: string;
  readonly source: string;
  readonly target: readonly string[];
  readonly guard: string | null;
  readonly seqs: readonly number[];
}

export interface MachinePosition {
  readonly targets: readonly string[];
  readonly since: number;
  /** Reached by an initial step, before any event. */
  readonly isInitial: boolean;
}

/** The configuration of each machine and the transitions taken. For a system, its states add the innermost active states of its machines. */
export interface TransitionLog {
  readonly seqs: readonly number[];
  readonly distinct: readonly RecordedTransition[];
  readonly machines: readonly string[];
  /** Those that the time limit of a run caused. */
  readonly expired: readonly number[];
  /**
   * The targets of a machine's last transition at an entry, and of those of other parallel regions. An empty list: it is in its initial state. Undefined: it
   * has not started.
   */
  positionAt(machine: string, seq: number): MachinePosition | undefined;
  /**
   * Returns when the latest timer of an actor for an event is due, on the clock of the entries. Null if no timer is recorded; -1 if the delay has
   * ended.
   */
  dueAt(actor: ActorPath, event: string, seq: number): number | null;
  /** Records that the delay of a timer has ended. */
  endTimer(actor: ActorPath, event: string, seq: number): void;
  positionsOf(machine: string): readonly MachinePosition[];
  /** Records a position that is known from the states, replacing that of the same entry. */
  place(machine: string, position: MachinePosition): void;
}

const NONE: readonly string[] = [];
const NO_POSITIONS: readonly MachinePosition[] = [];

/** The machine of a model call; it restarts with each attempt of a run. Systems record its transitions. */
const ATTEMPT = 'attempt';

/** The event of a machine's initial steps. */
export const INIT = 'xstate.init';

/** Whether a transition of a run only executes actions: it enters no state and decides nothing. */
export const isInternal = (entry: EntryOf<'transition'>): boolean =>
  entry.target.length === 0 && !entry.candidates.some(isGuardThatHeld);

const isGuardThatHeld = ({ guard, result }: EntryOf<'transition'>['candidates'][number]): boolean =>
  guard !== null && result === 'taken';

export function createTransitionLog() {
  const seqs: number[] = [];
  const expired: number[] = [];
  const distinct = new Map<string, RecordedTransition & { readonly seqs: number[] }>();
  const byMachine = new Map<string, { readonly seqs: number[]; readonly at: MachinePosition[] }>();

  const timers = new Map<string, { readonly seq: number; readonly dueMs: number }[]>();

  function takeTimer({ seq, event, dueMs, actor }: Omit<EntryOf<'timer-start'>, 'type' | 'timer' | 'atMs'>): void {
    const key = JSON.stringify([actor, event]);
    const known = timers.get(key) ?? [];
    timers.set(key, known);
    known.push({ seq, dueMs });
  }

  function moveTo(machine: string, targets: readonly string[], since: number, isInitial: boolean): void {
    const entries = byMachine.get(machine) ?? { seqs: [], at: [] };
    byMachine.set(machine, entries);
    entries.seqs.push(since);
    entries.at.push({ targets, since, isInitial });
  }

  function takeTransition(entry: EntryOf<'transition'>): void {
    const { seq, machine, event, source, target, candidates } = entry;
    const guard = candidates.find(({ result }) => result === 'taken')?.guard ?? null;
    const key = JSON.stringify([machine, event, source, target, guard]);
    const transition = distinct.get(key) ?? { machine, event, source, target, guard, seqs: [] };
    distinct.set(key, transition);
    transition.seqs.push(seq);
    seqs.push(seq);
    // The eventless transitions that follow have the same event.
    if (event === 'run.expired' && expired.length === 0) expired.push(seq);
    if (target.length === 0) return;
    const isInitial = event === INIT;
    const last = isInitial ? undefined : byMachine.get(machine)?.at.at(-1);
    moveTo(machine, withOtherRegions(last?.targets ?? NONE, source, transition.target), seq, isInitial);
  }

  const log: TransitionLog = {
    seqs,
    expired,
    get distinct() {
      return [...distinct.values()];
    },
    get machines() {
      return [...byMachine.keys()];
    },
    dueAt: (actor, event, seq) =>
      timers.get(JSON.stringify([actor, event]))?.findLast((timer) => timer.seq <= seq)?.dueMs ?? null,
    positionsOf: (machine) => byMachine.get(machine)?.at ?? NO_POSITIONS,
    positionAt(machine, seq) {
      const entries = byMachine.get(machine);
      return entries?.at[countUpTo(entries.seqs, seq) - 1];
    },
    endTimer: (actor, event, seq) => takeTimer({ actor, event, seq, dueMs: -1 }),
    place(machine, position) {
      const entries = byMachine.get(machine) ?? { seqs: [], at: [] };
      byMachine.set(machine, entries);
      const at = countUpTo(entries.seqs, position.since);
      const isKnown = at > 0 && entries.seqs[at - 1] === position.since;
      if (isKnown) entries.at[at - 1] = position;
      else {
        entries.seqs.splice(at, 0, position.since);
        entries.at.splice(at, 0, position);
      }
    },
  };

  return {
    log,
    /** Takes an entry. Unless `isOfRun`, transitions that only execute actions count, too. */
    take(entry: JournalEntry, isOfRun = true): void {
      if (entry.type === 'transition' && !(isOfRun && isInternal(entry))) takeTransition(entry);
      else if (entry.type === 'timer-start') takeTimer(entry);
      else if (entry.type === 'attempt-start') moveTo(ATTEMPT, NONE, entry.seq, true);
    },
  };
}

/** Returns the targets with the earlier ones that the transition did not leave: those in other parallel regions. */
function withOtherRegions(earlier: readonly string[], source: string, targets: readonly string[]): readonly string[] {
  const domain = targets.reduce((around, target) => commonAncestor(around, target), parentOf(source));
  const others = earlier.filter((id) => !isWithin(id, domain) && !targets.some((target) => isWithin(target, id)));
  return others.length === 0 ? targets : [...others, ...targets];
}

/** By the ids, which XState makes of the path of a state. States with ids of their own have only the root in common. */
function commonAncestor(one: string, other: string): string {
  let common = one;
  // By the length, because an invalid journal may have lists here.
  while (common.length > 0 && !isWithin(other, common)) common = parentOf(common);
  return common;
}

const parentOf = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('.')));

const isWithin = (id: string, ancestor: string): boolean =>
  ancestor === '' || id === ancestor || id.startsWith(`${ancestor}.`);
