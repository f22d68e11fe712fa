import type {
  AnyActorLogic,
  AnyMachineSnapshot,
  AnyStateMachine,
  EventFrom,
  EventObject,
  InputFrom,
  SnapshotFrom,
} from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { chartOf } from '../../engine/charts/chart.ts';
import { type InstrumentedMachine, instrumentMachine } from '../structure/instrumented-machine.ts';
import { placeInWords } from '../structure/place-words.ts';
import type { Beginning, Exploration, ExploredEdge, ExploredState } from './exploration.ts';
import { activeActors, type Occurrence, type Outcomes, occurrencesOf } from './occurrence.ts';
import { pureSteps } from './pure-steps.ts';
import { keysBy } from './state-keys.ts';
import { withStubActors } from './stub-actors.ts';

export interface ExploreOptions<Machine extends AnyStateMachine> {
  /** What each invoked actor may come to, by its name. */
  readonly outcomes: Outcomes;
  /** What may be sent from outside; without a list, nothing is. */
  readonly events?:
    | readonly EventFrom<Machine>[]
    | ((snapshot: SnapshotFrom<Machine>) => readonly EventFrom<Machine>[]);
  /**
   * What the machine is started with, by a name: each is a beginning of its own, and what is reached from two of them is two states. Without
   * it, it starts once, with no input.
   */
  readonly inputs?: Readonly<Record<string, InputFrom<Machine>>>;
  /**
   * What of a snapshot makes a difference, as JSON; the state it is in always does. Without it, all of its context does. What is left out
   * must not decide anything: of the snapshots that are alike only the first is followed.
   */
  readonly abstraction?: (snapshot: SnapshotFrom<Machine>) => unknown;
  /** In place of an actor that does nothing, for a machine that looks at what its child has come to. */
  readonly actors?: Readonly<Record<string, AnyActorLogic>>;
  /** No further than so many steps from a beginning; without it, as far as it goes. */
  readonly depth?: number;
  /** The most abstract states, 10,000 without it. */
  readonly limit?: number;
}

const DEFAULT_LIMIT = 10_000;

/** How a state was reached. */
type From = Pick<ExploredState, 'reachedBy' | 'depth' | 'ended'>;

/**
 * All that can happen to a machine: its reachable abstract states and the edges between them, breadth first, by pure steps; `always` and
 * delays included. No actor runs: what one may come to is what `outcomes` says of it. Any delay of an active state may pass, whatever it
 * lasts. Throws `invalid_option` for outcomes of no actor or of too few, and `exploration_failed`, with the state, the actor or the guard,
 * for a machine that throws, a guard that gives two answers to one question, and more states than the limit.
 */
export function explore<Machine extends AnyStateMachine>(
  machine: Machine,
  options: ExploreOptions<Machine>,
): Exploration<Machine, SnapshotFrom<Machine>> {
  const {
    outcomes,
    actors = {},
    events = [],
    inputs = { '': undefined as InputFrom<Machine> },
    depth = Number.POSITIVE_INFINITY,
    limit = DEFAULT_LIMIT,
  } = options;
  for (const [name, value] of Object.entries({ limit, depth }))
    if (!(value >= 0)) throw new PostChainError('invalid_option', `${name}: got ${value}; wanted a number, 0 or more.`);
  const occurrences = occurrencesOf(machine, outcomes, events as readonly EventObject[]);
  const possibleIn: Exploration['possibleIn'] = (snapshot, ended) => occurrences(snapshot).filter(canHappen(ended));
  const held = withStubActors(machine, actors);
  const told = instrumentMachine(held);
  const chart = chartOf(machine);
  const keyOf = keysBy(options.abstraction as ((snapshot: AnyMachineSnapshot) => unknown) | undefined);
  const step = stepsOf(told, held);

  const beginnings: Beginning[] = [];
  const states: ExploredState[] = [];
  const edges: ExploredEdge[] = [];
  const edgesFrom: ExploredEdge[][] = [];
  const known = new Map<string, number>();

  function reach(snapshot: AnyMachineSnapshot, start: string, from: From): number {
    const key = `${start} ${from.ended.join()} ${keyOf(snapshot)}`;
    const there = known.get(key);
    if (there !== undefined) return there;
    const id = states.length;
    if (id >= limit) throw explosion(machine.id, states, limit, options.abstraction !== undefined);
    known.set(key, id);
    states.push({ id, value: snapshot.value, snapshot, ...from });
    edgesFrom.push([]);
    starts.push(start);
    return id;
  }

  const starts: string[] = [];
  for (const [name, input] of Object.entries(inputs)) {
    const snapshot = step.begin(input, name);
    beginnings.push({
      name,
      input,
      ...told.told(),
      state: reach(snapshot, name, { reachedBy: null, depth: 0, ended: [] }),
    });
  }
  // States are found in the order of their distance, so the list is its own queue.
  let isWhole = true;
  for (const state of states) {
    const all = possibleIn(state.snapshot, state.ended);
    if (state.depth >= depth) {
      isWhole &&= all.length === 0;
      continue;
    }
    for (const occurrence of all) {
      const next = step.after(state.snapshot, occurrence);
      const id = edges.length;
      const did = told.told();
      const ended = endedAfter(state.snapshot, state.ended, occurrence, next);
      const to = reach(next, starts[state.id] ?? '', { reachedBy: id, depth: state.depth + 1, ended });
      const edge = { id, from: state.id, to, occurrence, ...did };
      edges.push(edge);
      edgesFrom[state.id]?.push(edge);
    }
  }
  // What is known here of any snapshot is known to the caller of this machine's.
  return {
    machine,
    told,
    chart,
    beginnings,
    states,
    edges,
    edgesFrom,
    isWhole,
    keyOf,
    possibleIn,
  } as unknown as Exploration<Machine, SnapshotFrom<Machine>>;
}

/** Pure steps, and in words what went wrong where one cannot be taken. */
function stepsOf(told: InstrumentedMachine<AnyStateMachine>, machine: AnyStateMachine) {
  const steps = pureSteps(told.machine);

  function tried(where: string, take: () => AnyMachineSnapshot): AnyMachineSnapshot {
    let snapshot: AnyMachineSnapshot;
    try {
      snapshot = take();
    } catch (cause) {
      const why = (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s*\n\s*/gu, ' ');
      throw new PostChainError('exploration_failed', `${machine.id} threw ${where}: ${why}`, { cause });
    }
    if (told.fickle !== null)
      throw new PostChainError(
        'exploration_failed',
        `The guard of ${placeInWords(chartOf(machine), told.fickle)} gave two answers to one question, ${where}: a guard must go by its context, its event and its parameters alone.`,
      );
    return snapshot;
  }
  return {
    begin: (input: unknown, name: string) =>
      tried(name === '' ? 'as it started, with no input of inputs' : `as it started with the input "${name}"`, () =>
        started(steps.begin(input)),
      ),
    after: (snapshot: AnyMachineSnapshot, { event, name }: Occurrence) =>
      tried(`in ${JSON.stringify(snapshot.value)}, at "${name}"`, () => steps.after(snapshot, event)),
  };
}

/** XState keeps what a machine throws as it starts in its snapshot. */
function started(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  if (snapshot.status === 'error') throw snapshot.error;
  return snapshot;
}

/** Which actors of active states run no more after a step, by their ids: they ended, or were stopped, and were not begun anew. */
function endedAfter(
  before: AnyMachineSnapshot,
  ended: readonly string[],
  { kind, actor }: Occurrence,
  after: AnyMachineSnapshot,
): readonly string[] {
  const ends = kind === 'done' || kind === 'error';
  const isOver = (id: string): boolean => (ends && id === actor) || ended.includes(id);
  const isSame = (id: string): boolean => after.children[id] === before.children[id];
  return activeActors(after).flatMap(({ id }) =>
    after.children[id] === undefined || (isOver(id) && isSame(id)) ? [id] : [],
  );
}

/** Whether something can still happen: an actor that has ended says nothing more. */
const canHappen =
  (ended: readonly string[]) =>
  ({ actor }: Occurrence): boolean =>
    actor === null || !ended.includes(actor);

const MOST_NAMED = 3;

/** There are too many states: where most of them are, and what of the context makes them differ. */
function explosion(
  machine: string,
  states: readonly ExploredState<AnyMachineSnapshot>[],
  limit: number,
  hasAbstraction: boolean,
): PostChainError {
  const byValue = new Map<string, ExploredState<AnyMachineSnapshot>[]>();
  for (const state of states) {
    const value = JSON.stringify(state.value);
    const alike = byValue.get(value) ?? [];
    alike.push(state);
    byValue.set(value, alike);
  }
  const [[value, alike] = ['', []]] = [...byValue].sort(([, one], [, other]) => other.length - one.length);
  const varied = variedIn(alike.map(({ snapshot }) => snapshot.context));
  const fields = varied.slice(0, MOST_NAMED).map(([name, count]) => `context.${name} has ${count} values`);
  const what = fields.length === 0 ? 'they differ in nothing of their context' : fields.join(', ');
  const todo = hasAbstraction
    ? 'let the abstraction leave more out'
    : 'give an abstraction that leaves out what decides nothing';
  return new PostChainError(
    'exploration_failed',
    `${machine} has more than ${limit} states: ${alike.length} of them are ${value}, where ${what}; ${todo}, or raise the limit.`,
  );
}

/** The members of contexts by how many values they have; those with one are left out. */
function variedIn(contexts: readonly unknown[]): readonly (readonly [string, number])[] {
  const values = new Map<string, Set<string>>();
  for (const context of contexts)
    for (const [name, value] of Object.entries(context ?? {})) {
      const there = values.get(name) ?? new Set();
      values.set(name, there.add(textOf(value)));
    }
  return [...values]
    .map(([name, { size }]) => [name, size] as const)
    .filter(([, count]) => count > 1)
    .sort(([, one], [, other]) => other - one);
}

function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}
