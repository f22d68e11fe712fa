import type { AnyActorLogic, AnyMachineSnapshot, AnyStateMachine, EventFrom, InputFrom, SnapshotFrom } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { chartOf } from '../../durable/charts/chart.ts';
import { firstLineOf, oneLine } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { parentOf } from '../../xstate/actors.ts';
import { isXState6 } from '../../xstate/ports.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import { type InstrumentedMachine, instrumentMachine } from '../structure/instrumented-machine.ts';
import { activeActors, childOf, hasGeneratedId, inputOf, spawnedActors } from '../structure/running-actors.ts';
import { ChildMachines, DEFAULT_LIMIT } from './child-machines.ts';
import { type ActorIds, describeDifference, errorJson, exactJson, repetitions } from './exact-json.ts';
import type { Exploration, ExploredEdge, ExploredPlace, ExploredState, StartState } from './exploration.ts';
import type { ActorOutcome, Place } from './occurrences.ts';
import { type EventsOption, type Occurrences, type Outcomes, occurrencesOf } from './occurrences.ts';
import { type ExploredAs, type PureSteps, pureSteps } from './pure-steps.ts';
import { stepsOfSix } from './steps-of-six.ts';
import { withStubActors } from './stub-actors.ts';
import { timerKey } from './timers.ts';

type Abstraction = ((snapshot: AnyMachineSnapshot) => unknown) | undefined;

interface StateKey {
  /** Identifies a snapshot's abstract state. */
  of(snapshot: AnyMachineSnapshot, ended: readonly string[]): string;
  /** Identifies the rest of a place: which actors have ended and which delays are running. */
  ofRest(place: Place): string;
}

/**
 * Returns a function that identifies a snapshot's abstract state as JSON: its state value and status, its history states, its spawned
 * actors, and the abstraction; without an abstraction, the entire context and output, and the inputs of actors whose outcomes depend on them.
 */
function createStateKey(abstraction: Abstraction, { readsInput }: Pick<Occurrences, 'readsInput'>): StateKey {
  const idsOf = (snapshot: AnyMachineSnapshot, ended: readonly string[]): ActorIds => {
    // With an abstraction, it decides whether ids matter; without one, only those that XState generates are replaced.
    const varies = (id: string): boolean => abstraction !== undefined || hasGeneratedId({ id });
    const renamed = spawnedActors(snapshot, ended).filter(({ id }) => varies(id));
    return {
      names: new Map(renamed.map(({ id, name, nth }) => [id, `${name}#${nth}`])),
      // The machine itself may be in its own context.
      isRunning: (ref) => parentOf(ref) === undefined || (ref === childOf(snapshot, ref.id) && !ended.includes(ref.id)),
      varies,
    };
  };

  function of(snapshot: AnyMachineSnapshot, ended: readonly string[]): string {
    const { value, status, context, output, error } = snapshot;
    const ids = idsOf(snapshot, ended);
    const spawned = spawnedActors(snapshot, ended).map(({ id, name }) => ids.names.get(id) ?? `${name} ${id}`);
    const readers = abstraction === undefined ? inputReaders(snapshot, ended) : [];
    try {
      const [rest, inputs] =
        abstraction === undefined
          ? [
              {
                context: exactJson(context, 'context', ids),
                output: exactJson(output, 'output', ids),
                repeated: repetitions({ context, output }),
              },
              readers.map(({ id }) => {
                const input = inputOf(childOf(snapshot, id));
                return [ids.names.get(id) ?? id, exactJson(input, `the input of ${id}`, ids)];
              }),
            ]
          : [exactJson(abstraction(snapshot), 'abstraction', ids), []];
      const failure = status === 'error' ? errorJson(error) : '';
      return JSON.stringify([value, status, rest, historyOf(snapshot), failure, inputs, ...spawned.sort()]);
    } catch (cause) {
      throw new PostChainError(
        'exploration_failed',
        // An exploration takes no codecs.
        `The abstraction of ${JSON.stringify(value)} cannot be compared (${firstLineOf(cause).replace(/\. Add a codec.*$/u, '')}); pass an "abstraction" that returns JSON`,
        { cause },
      );
    }
  }

  const inputReaders = (snapshot: AnyMachineSnapshot, ended: readonly string[]) =>
    activeActors(snapshot, ended).filter((actor) => readsInput(actor, childOf(snapshot, actor.id)));

  return {
    of,
    ofRest({ snapshot, ended, timers }) {
      const spawned = spawnedActors(snapshot, []).map(({ id }) => id);
      const invoked = ended.filter((id) => !spawned.includes(id)).sort();
      return `${invoked.join()} ${timers.map(timerKey).sort().join()}`;
    },
  };
}

/** The active states that XState remembers, by the ids of history states. */
const historyOf = ({ historyValue }: AnyMachineSnapshot): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(historyValue)
      .map(([id, nodes]) => [id, nodes.map((node) => node.id).sort()] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

export interface ExploreOptions<Machine extends AnyStateMachine> {
  /** The possible outcomes of each actor, by its name. Default: those that it declares, or that the exploration of a child machine finds. */
  readonly outcomes?: Outcomes;
  /**
   * The events that may be sent from outside. Default: one without a payload for each type that the machine handles, except those that it
   * raises itself; an error if the machine reads more of one.
   */
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
  /** The maximum number of abstract states, and of the states of all child machines together. Default: 10,000. */
  readonly limit?: number;
  /** Called before each state is explored, with the number of states explored and found so far. */
  readonly onProgress?: (explored: number, found: number) => void;
}

/** A machine with the options to explore it. */
export interface ExploredChart<Machine extends AnyStateMachine> extends ExploreOptions<Machine> {
  readonly machine: Machine;
}

/** One object, such as `chainChart`, may have a machine and its options for `explore` and `startWalk`. */
export const EXPLORE_OPTIONS = 'machine outcomes events inputs abstraction actors depth limit onProgress';

/** A chart with its options, such as `chainChart`, may be passed whole. */
const CHART = 'machine properties';

/**
 * Returns the reachable abstract states of a machine and the edges between them, found breadth first by pure steps. No actor and no custom
 * action runs: `outcomes` lists what each actor can do. Any running delay may elapse, whatever its length, once. An error that the machine
 * throws ends it in a state with the status `error`.
 *
 * Throws `invalid_option` if `outcomes` names an unknown actor or misses one, or `events` is missing and an event needs a payload. Throws
 * `exploration_failed` if the context cannot be created or is changed in place, a guard is nondeterministic, a snapshot is not JSON, the
 * machine reads the snapshot of an actor without a stand-in, or there are more states than `limit`.
 */
export function explore<Machine extends AnyStateMachine>(
  machine: Machine,
  options: ExploreOptions<Machine> = {},
): Exploration<Machine, SnapshotFrom<Machine>> {
  requireKnownOptions('explore', options, `${EXPLORE_OPTIONS} ${CHART}`);
  // The snapshots are this machine's: the code below treats them as any machine's.
  return exploreMachine(machine, options as never, childMachines(options)) as never;
}

/** Returns what finds the outcomes of a machine's children. Actors whose outcomes are not known have the assumed ones. */
export const childMachines = (
  options: Pick<ExploreOptions<AnyStateMachine>, 'outcomes' | 'limit' | 'depth'>,
  assumed?: readonly ActorOutcome[],
): ChildMachines => new ChildMachines(exploreMachine, options, { assumed });

/** Explores a machine again if the outcomes of one of its children turn out not to be those of the child's own exploration. */
export function exploreMachine(
  machine: AnyStateMachine,
  options: ExploreOptions<AnyStateMachine>,
  children: ChildMachines,
  as: ExploredAs = machine,
): Exploration {
  for (;;)
    try {
      return exploreOnce(machine, options, children, as);
    } catch (error) {
      if (!children.isStartAgain(error)) throw error;
    }
}

function exploreOnce(
  machine: AnyStateMachine,
  options: ExploreOptions<AnyStateMachine>,
  children: ChildMachines,
  as: ExploredAs,
): Exploration {
  const {
    outcomes = {},
    actors: standIns = {},
    inputs = { '': undefined },
    depth = Number.POSITIVE_INFINITY,
    limit = DEFAULT_LIMIT,
    onProgress,
  } = options;
  for (const [name, value] of Object.entries({ limit, depth }))
    if (!(value >= 0)) throw new PostChainError('invalid_option', `"${name}" must be a number ≥ 0; received ${value}`);
  const abstraction = options.abstraction as Abstraction;
  const occurrences = occurrencesOf(machine, outcomes, options.events as EventsOption, children);
  const possibleIn: Exploration['possibleIn'] = (place) => occurrences.in(place);
  const instrumented = instrumentMachine(withStubActors(machine));
  const key = createStateKey(abstraction, occurrences);
  const steps = isXState6(machine)
    ? stepsOfSix(instrumented, machine, standIns)
    : pureSteps(instrumented.machine, machine, standIns, as);
  const check = stepCheck(machine, instrumented, steps, occurrences);
  const states = new StateList(machine.id, key, limit, abstraction !== undefined, () => children.countState());
  const starts: StartState[] = [];
  const edges: ExploredEdge[] = [];
  const edgesFrom: ExploredEdge[][] = [];

  for (const [name, input] of Object.entries(inputs)) {
    const place = steps.start(input);
    check(place, () => (name === '' ? 'at the start' : `at the start with input "${name}"`));
    if (as.parent === undefined) requireContext(place.snapshot, name);
    const did = instrumented.drainStep();
    starts.push({ name, input, ...did, state: states.reach(place, name, { reachedBy: null, depth: 0 }) });
  }
  // States are appended in order of distance, so the list is its own queue.
  let isComplete = true;
  for (const state of states.all) {
    onProgress?.(state.id, states.all.length);
    const possible = possibleIn(state);
    const from: ExploredEdge[] = [];
    edgesFrom.push(from);
    if (state.depth >= depth) {
      isComplete &&= possible.length === 0;
      continue;
    }
    for (const occurrence of possible) {
      const next = steps.after(state, occurrence);
      check(next, () => `in ${JSON.stringify(state.value)} on "${occurrence.name}"`);
      const did = instrumented.drainStep();
      const id = edges.length;
      const to = states.reach(next, states.inputOf(state), { reachedBy: id, depth: state.depth + 1 });
      const isMerged = abstraction !== undefined && states.all[to]?.reachedBy !== id;
      const edge = { id, from: state.id, to, occurrence, ...(isMerged && { merged: next.snapshot }), ...did };
      edges.push(edge);
      from.push(edge);
    }
    states.requireUnchanged(state);
  }
  if (isComplete) occurrences.requireAllKnown();
  children.requireOwn(steps.unknownSystemIds);
  isComplete &&= children.explored.every(({ exploration }) => exploration.isComplete);
  const chart = chartOf(machine);
  const graph = { machine, instrumented, chart, starts, states: states.all, edges, edgesFrom, isComplete };
  const { unknownActions } = steps;
  const stepFrom: Exploration['stepFrom'] = (place, occurrence) => steps.after(place, occurrence);
  return { ...graph, children: children.explored, unknownActions, standIns, keyOf: key.of, possibleIn, stepFrom };
}

/** The abstract states found so far. */
class StateList {
  readonly all: ExploredState[] = [];
  readonly #idByKey = new Map<string, number>();
  /** The input name that each state was reached from, by state id. */
  readonly #inputs: string[] = [];
  /** The key of each state's snapshot, by state id. */
  readonly #keys: string[] = [];
  readonly #machineId: string;
  readonly #key: StateKey;
  readonly #limit: number;
  readonly #hasAbstraction: boolean;
  readonly #onNew: () => void;

  constructor(machineId: string, key: StateKey, limit: number, hasAbstraction: boolean, onNew: () => void) {
    this.#machineId = machineId;
    this.#key = key;
    this.#limit = limit;
    this.#hasAbstraction = hasAbstraction;
    this.#onNew = onNew;
  }

  /** Returns the id of the state of a place, which may be known. */
  reach(place: ExploredPlace, inputName: string, from: Pick<ExploredState, 'reachedBy' | 'depth'>): number {
    const snapshotKey = this.#key.of(place.snapshot, place.ended);
    const text = `${inputName} ${this.#key.ofRest(place)} ${snapshotKey}`;
    const existing = this.#idByKey.get(text);
    if (existing !== undefined) return existing;
    const id = this.all.length;
    if (id >= this.#limit) throw tooManyStates(this.#machineId, this.all, this.#limit, this.#hasAbstraction);
    this.#onNew();
    this.#idByKey.set(text, id);
    this.all.push({ id, value: place.snapshot.value, ...place, ...from });
    this.#inputs.push(inputName);
    this.#keys.push(snapshotKey);
    return id;
  }

  inputOf({ id }: ExploredState): string {
    return this.#inputs[id] ?? '';
  }

  /** All edges of a state start from the same snapshot. */
  requireUnchanged({ id, snapshot, ended, value }: ExploredState): void {
    const difference = describeDifference(this.#key.of(snapshot, ended), this.#keys[id] ?? '');
    if (difference !== null)
      throw new PostChainError(
        'exploration_failed',
        `${this.#machineId} changes its context in place in ${JSON.stringify(value)} (${difference}); an assignment must return new values`,
      );
  }
}

/** Returns a function that throws if the last step cannot be relied on. */
function stepCheck(
  machine: AnyStateMachine,
  instrumented: InstrumentedMachine<AnyStateMachine>,
  steps: PureSteps,
  occurrences: Occurrences,
) {
  return (place: Place, where: () => string): void => {
    const guard = instrumented.nondeterministicGuard;
    if (guard !== null)
      throw new PostChainError(
        'exploration_failed',
        `The guard of "${describeTransition(chartOf(machine), guard)}" returned two different results ${where()}; a guard may depend only on its context, event and params`,
      );
    const read = steps.unknownRead();
    if (read !== null)
      throw new PostChainError(
        'exploration_failed',
        `${machine.id} reads ${read} ${where()}, which an exploration does not follow; pass a stand-in for the actor in "actors"`,
      );
    const shared = steps.sharedId();
    if (shared !== null)
      throw new PostChainError(
        'exploration_failed',
        `${machine.id} runs two actors with the id "${shared}" ${where()}, and an exploration follows one actor per id; give each its own id, or stop the first one`,
      );
    for (const { ref, event } of steps.sentToChildren()) occurrences.requireIndependent(ref, event, where);
    occurrences.requireNoPayload(where);
    occurrences.requireOneLogic(place);
  };
}

/** Without a context, a machine cannot be explored. The usual reason is a missing input. */
function requireContext({ status, error, context, machine }: AnyMachineSnapshot, input: string): void {
  const isMissing = typeof machine.config.context === 'function' && Object.keys(context ?? {}).length === 0;
  if (status !== 'error' || !isMissing) return;
  const where = input === '' ? 'without an input' : `with input "${input}"`;
  const advice = input === '' ? '; pass "inputs"' : '';
  throw new PostChainError(
    'exploration_failed',
    `${machine.id} threw at the start, ${where}: ${oneLine(firstLineOf(error))}${advice}`,
    { cause: error },
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
  const difference = fields.length === 0 ? 'the actors or running delays differ' : fields.join(', ');
  const abstraction = hasAbstraction
    ? 'Leave more out of "abstraction"'
    : 'Pass an "abstraction" that leaves out what decides nothing';
  const advice = fields.length === 0 ? 'Limit the exploration with "depth"' : abstraction;
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
