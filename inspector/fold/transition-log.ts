import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { ActorPath } from '../../src/durable/entries.ts';
import type { EntryOf } from './entry-index.ts';
import { countUpTo, firstIndexWhere } from './sorted.ts';

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

/** A started timer, or with -1 as `dueMs` the end of its delay. */
type Timer = Pick<EntryOf<'timer-start'>, 'seq' | 'event' | 'dueMs' | 'actor'>;

const NONE: readonly string[] = [];
const NO_POSITIONS: readonly MachinePosition[] = [];

/** The machine of a model call; it restarts with each attempt of a run. Systems record its transitions. */
const ATTEMPT = 'attempt';

/** The event of a machine's initial steps. */
export const INIT = 'xstate.init';

/** Whether a transition of a run only executes actions: it enters no state and decides nothing. */
export const isInternal = ({ target, candidates }: EntryOf<'transition'>): boolean =>
  target.length === 0 && !candidates.some(({ guard, result }) => guard !== null && result === 'taken');

/** The configuration of each machine and the transitions taken. For a system, its states add the innermost active states of its machines. */
export class TransitionLog {
  readonly #distinct = new Map<string, RecordedTransition & { readonly seqs: number[] }>();
  readonly #byMachine = new Map<string, { readonly seqs: number[]; readonly at: MachinePosition[] }>();
  readonly #timers = new Map<string, Timer[]>();
  readonly seqs: number[] = [];
  /** The transitions that the time limit of a run caused. */
  readonly expired: number[] = [];

  get distinct(): readonly RecordedTransition[] {
    return [...this.#distinct.values()];
  }

  get machines(): readonly string[] {
    return [...this.#byMachine.keys()];
  }

  #positionsIn(machine: string) {
    const known = this.#byMachine.get(machine) ?? { seqs: [], at: [] };
    this.#byMachine.set(machine, known);
    return known;
  }

  #moveTo(machine: string, targets: readonly string[], since: number, isInitial: boolean): void {
    const { seqs, at } = this.#positionsIn(machine);
    seqs.push(since);
    at.push({ targets, since, isInitial });
  }

  #takeTimer({ seq, event, dueMs, actor }: Timer): void {
    const key = JSON.stringify([actor, event]);
    const known = this.#timers.get(key) ?? [];
    this.#timers.set(key, known);
    known.push({ seq, event, dueMs, actor });
  }

  #takeTransition({ seq, machine, event, source, target, candidates }: EntryOf<'transition'>): void {
    const guard = candidates.find(({ result }) => result === 'taken')?.guard ?? null;
    const key = JSON.stringify([machine, event, source, target, guard]);
    const transition = this.#distinct.get(key) ?? { machine, event, source, target, guard, seqs: [] };
    this.#distinct.set(key, transition);
    transition.seqs.push(seq);
    this.seqs.push(seq);
    // The eventless transitions that follow have the same event.
    if (event === 'run.expired' && this.expired.length === 0) this.expired.push(seq);
    if (target.length === 0) return;
    const isInitial = event === INIT;
    const last = isInitial ? undefined : this.positionsOf(machine).at(-1);
    this.#moveTo(machine, withOtherRegions(last?.targets ?? NONE, source, transition.target), seq, isInitial);
  }

  /** Takes an entry. Unless `isOfRun`, transitions that only execute actions count, too. */
  take(entry: JournalEntry, isOfRun = true): void {
    if (entry.type === 'transition' && !(isOfRun && isInternal(entry))) this.#takeTransition(entry);
    else if (entry.type === 'timer-start') this.#takeTimer(entry);
    else if (entry.type === 'attempt-start') this.#moveTo(ATTEMPT, NONE, entry.seq, true);
  }

  /** Forgets what the step that begins with an entry did: a replay passes over it. */
  withdraw(failed: number): void {
    const cut = (seqs: number[]): number => seqs.splice(firstIndexWhere(seqs, (seq) => seq >= failed)).length;
    cut(this.seqs);
    for (const [key, { seqs }] of this.#distinct) if (cut(seqs) > 0 && seqs.length === 0) this.#distinct.delete(key);
    for (const { seqs, at } of this.#byMachine.values()) at.length -= cut(seqs);
    for (const timers of this.#timers.values()) timers.splice(firstIndexWhere(timers, ({ seq }) => seq >= failed));
  }

  /** Records that the delay of a timer has ended. */
  endTimer(actor: ActorPath, event: string, seq: number): void {
    this.#takeTimer({ actor, event, seq, dueMs: -1 });
  }

  /** Returns when the latest timer of an actor for an event is due, on the clock of the entries. Null if no timer is recorded; -1 if the delay has ended. */
  dueAt(actor: ActorPath, event: string, seq: number): number | null {
    return this.#timers.get(JSON.stringify([actor, event]))?.findLast((timer) => timer.seq <= seq)?.dueMs ?? null;
  }

  /** Returns the timers of an actor. `next`: the end of the delay, or the next timer for the same event; null if neither is recorded. */
  timersOf(actor: ActorPath): readonly (Timer & { readonly next: Timer | null })[] {
    const own = [...this.#timers.values()].filter(([first]) => first?.actor === actor);
    return own.flatMap((all) => all.map((timer, at) => ({ ...timer, next: all[at + 1] ?? null })));
  }

  positionsOf(machine: string): readonly MachinePosition[] {
    return this.#byMachine.get(machine)?.at ?? NO_POSITIONS;
  }

  /**
   * The targets of a machine's last transition at an entry, and of those of other parallel regions. An empty list: it is in its initial state. Undefined: it
   * has not started.
   */
  positionAt(machine: string, seq: number): MachinePosition | undefined {
    const entries = this.#byMachine.get(machine);
    return entries?.at[countUpTo(entries.seqs, seq) - 1];
  }

  /** Records a position that is known from the states, replacing that of the same entry. */
  place(machine: string, position: MachinePosition): void {
    const { seqs, at } = this.#positionsIn(machine);
    const index = countUpTo(seqs, position.since);
    const known = seqs[index - 1] === position.since ? 1 : 0;
    seqs.splice(index - known, known, position.since);
    at.splice(index - known, known, position);
  }
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
