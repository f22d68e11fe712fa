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
import { chartOf } from '../../durable/charts/chart.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import { type InstrumentedMachine, instrumentMachine } from '../structure/instrumented-machine.ts';
import type { Exploration, ExploredEdge, ExploredState, StartState } from './exploration.ts';
import { activeActors, type Occurrence, type Outcomes, occurrencesOf } from './occurrences.ts';
import { pureSteps } from './pure-steps.ts';
import { createStateKey } from './state-keys.ts';
import { withStubActors } from './stub-actors.ts';

export interface ExploreOptions<Machine extends AnyStateMachine> {
  /** The possible outcomes of each invoked actor, by its name. */
  readonly outcomes: Outcomes;
  /** The events that may be sent from outside. Default: none. */
  readonly events?:
    | readonly EventFrom<Machine>[]
    | ((snapshot: SnapshotFrom<Machine>) => readonly EventFrom<Machine>[]);
  /** The inputs to start with, by name. States reached from different inputs are different states. Default: one start without input. */
  readonly inputs?: Readonly<Record<string, InputFrom<Machine>>>;
  /**
   * The part of a snapshot that distinguishes it from others, as JSON, in addition to its state value. Default: the entire context. Leave out
   * only what decides nothing: of snapshots with equal abstractions, only the first is followed.
   */
  readonly abstraction?: (snapshot: SnapshotFrom<Machine>) => unknown;
  /** Stand-ins for actors whose snapshots the machine reads. All other actors are stubs. */
  readonly actors?: Readonly<Record<string, AnyActorLogic>>;
  /** The most steps from a start state. Default: unlimited. */
  readonly depth?: number;
  /** The most abstract states. Default: 10,000. */
  readonly limit?: number;
  /** Called before each state is explored, with the number of states explored and found so far. */
  readonly onProgress?: (explored: number, found: number) => void;
}

/** A machine with the options to explore it. */
export interface ExploredChart<Machine extends AnyStateMachine> extends ExploreOptions<Machine> {
  readonly machine: Machine;
}

const DEFAULT_LIMIT = 10_000;

/**
 * Returns the reachable abstract states of a machine and the edges between them, found breadth first by pure steps. No actor runs: `outcomes`
 * lists what each can do. Any delay of an active state may elapse, whatever its length.
 *
 * Throws `invalid_option` if `outcomes` names an unknown actor or misses one. Throws `exploration_failed` if the machine throws, a guard is
 * nondeterministic, or there are more states than `limit`.
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
    onProgress,
  } = options;
  for (const [name, value] of Object.entries({ limit, depth }))
    if (!(value >= 0)) throw new PostChainError('invalid_option', `"${name}" must be a number ≥ 0; received ${value}`);
  const occurrences = occurrencesOf(machine, outcomes, events as readonly EventObject[]);
  const possibleIn: Exploration['possibleIn'] = (snapshot, ended) =>
    occurrences(snapshot).filter(({ actor }) => actor === null || !ended.includes(actor));
  const stubbed = withStubActors(machine, actors);
  const instrumented = instrumentMachine(stubbed);
  const keyOf = createStateKey(options.abstraction as ((snapshot: AnyMachineSnapshot) => unknown) | undefined);
  const step = checkedSteps(instrumented, stubbed);

  const starts: StartState[] = [];
  const states: ExploredState[] = [];
  const edges: ExploredEdge[] = [];
  const edgesFrom: ExploredEdge[][] = [];
  const idByKey = new Map<string, number>();
  /** The input name that each state was reached from, by state id. */
  const inputNames: string[] = [];

  function reach(
    snapshot: AnyMachineSnapshot,
    inputName: string,
    from: Pick<ExploredState, 'reachedBy' | 'depth' | 'ended'>,
  ): number {
    const key = `${inputName} ${from.ended.join()} ${keyOf(snapshot)}`;
    const existing = idByKey.get(key);
    if (existing !== undefined) return existing;
    const id = states.length;
    if (id >= limit) throw tooManyStates(machine.id, states, limit, options.abstraction !== undefined);
    idByKey.set(key, id);
    states.push({ id, value: snapshot.value, snapshot, ...from });
    edgesFrom.push([]);
    inputNames.push(inputName);
    return id;
  }

  for (const [name, input] of Object.entries(inputs)) {
    const snapshot = step.start(input, name);
    const did = instrumented.drainStep();
    starts.push({ name, input, ...did, state: reach(snapshot, name, { reachedBy: null, depth: 0, ended: [] }) });
  }
  // States are appended in order of distance, so the list is its own queue.
  let isComplete = true;
  for (const state of states) {
    onProgress?.(state.id, states.length);
    const possible = possibleIn(state.snapshot, state.ended);
    if (state.depth >= depth) {
      isComplete &&= possible.length === 0;
      continue;
    }
    for (const occurrence of possible) {
      const next = step.after(state.snapshot, occurrence);
      const did = instrumented.drainStep();
      const id = edges.length;
      const ended = endedAfter(state.snapshot, state.ended, occurrence, next);
      const to = reach(next, inputNames[state.id] ?? '', { reachedBy: id, depth: state.depth + 1, ended });
      const edge = { id, from: state.id, to, occurrence, ...did };
      edges.push(edge);
      edgesFrom[state.id]?.push(edge);
    }
  }
  const chart = chartOf(machine);
  const exploration = { machine, instrumented, chart, starts, states, edges, edgesFrom, isComplete, keyOf, possibleIn };
  // The snapshots are this machine's: the code above treats them as any machine's.
  return exploration as unknown as Exploration<Machine, SnapshotFrom<Machine>>;
}

/** Pure steps that report machine errors and nondeterministic guards as `exploration_failed`. */
function checkedSteps(instrumented: InstrumentedMachine<AnyStateMachine>, machine: AnyStateMachine) {
  const steps = pureSteps(instrumented.machine);

  function checked(where: string, take: () => AnyMachineSnapshot): AnyMachineSnapshot {
    let snapshot: AnyMachineSnapshot;
    try {
      snapshot = take();
    } catch (cause) {
      const reason = (cause instanceof Error ? cause.message : String(cause)).replaceAll(/\s*\n\s*/gu, ' ');
      throw new PostChainError('exploration_failed', `${machine.id} threw ${where}: ${reason}`, { cause });
    }
    const guard = instrumented.nondeterministicGuard;
    if (guard !== null)
      throw new PostChainError(
        'exploration_failed',
        `The guard of "${describeTransition(chartOf(machine), guard)}" returned two different results ${where}; a guard may depend only on its context, event and params`,
      );
    return snapshot;
  }
  return {
    start: (input: unknown, name: string) =>
      checked(name === '' ? 'at the start, without an input' : `at the start with input "${name}"`, () =>
        started(steps.start(input)),
      ),
    after: (snapshot: AnyMachineSnapshot, { event, name }: Occurrence) =>
      checked(`in ${JSON.stringify(snapshot.value)} on "${name}"`, () => steps.after(snapshot, event)),
  };
}

/** XState stores an error thrown at the start in the snapshot. */
function started(snapshot: AnyMachineSnapshot): AnyMachineSnapshot {
  if (snapshot.status === 'error') throw snapshot.error;
  return snapshot;
}

/** Returns the ids of actors that no longer run after a step although their state is active. */
function endedAfter(
  before: AnyMachineSnapshot,
  ended: readonly string[],
  { kind, actor }: Occurrence,
  after: AnyMachineSnapshot,
): readonly string[] {
  const ends = kind === 'done' || kind === 'error';
  const hasEnded = (id: string): boolean => (ends && id === actor) || ended.includes(id);
  const isSame = (id: string): boolean => after.children[id] === before.children[id];
  return activeActors(after).flatMap(({ id }) =>
    after.children[id] === undefined || (hasEnded(id) && isSame(id)) ? [id] : [],
  );
}

const MAX_FIELDS = 3;

/** Names the state value with the most states and the context fields that differ between them. */
function tooManyStates(
  machine: string,
  states: readonly ExploredState[],
  limit: number,
  hasAbstraction: boolean,
): PostChainError {
  const byValue = new Map<string, ExploredState[]>();
  for (const state of states) {
    const value = JSON.stringify(state.value);
    const equal = byValue.get(value) ?? [];
    equal.push(state);
    byValue.set(value, equal);
  }
  const [[value, largest] = ['', []]] = [...byValue].sort(([, one], [, other]) => other.length - one.length);
  const fields = varyingFields(largest.map(({ snapshot }) => snapshot.context))
    .slice(0, MAX_FIELDS)
    .map(([name, count]) => `context.${name} has ${count} values`);
  const difference = fields.length === 0 ? 'their contexts are equal' : fields.join(', ');
  const advice = hasAbstraction
    ? 'Leave more out of "abstraction"'
    : 'Pass an "abstraction" that leaves out what decides nothing';
  return new PostChainError(
    'exploration_failed',
    `${machine} has more than ${limit} states; ${largest.length} of them are ${value}, in which ${difference}. ${advice}, or raise "limit"`,
  );
}

/** Returns the context fields with more than one value, and their number of values, largest first. */
function varyingFields(contexts: readonly unknown[]): readonly (readonly [string, number])[] {
  const values = new Map<string, Set<string>>();
  for (const context of contexts)
    for (const [name, value] of Object.entries(context ?? {}))
      values.set(name, (values.get(name) ?? new Set()).add(textOf(value)));
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
