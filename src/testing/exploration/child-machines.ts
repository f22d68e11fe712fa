import type { AnyActorLogic, AnyActorRef, AnyStateMachine, EventObject } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { declaredOutcomes } from '../../internal/declared-outcomes.ts';
import { firstLineOf } from '../../internal/printable.ts';
import { parentOf, systemIdOf } from '../../xstate/actors.ts';
import { isXState6 } from '../../xstate/ports.ts';
import { descriptorMatches, isMachine } from '../../xstate/states.ts';
import { inputOf, refsIn } from '../structure/running-actors.ts';
import { repetitions, withActor } from './exact-json.ts';
import type { Exploration, ExploredChild } from './exploration.ts';
import {
  type ActorOutcome,
  done,
  type FoundOutcomes,
  fails,
  handledTypes,
  labelOf,
  type OutcomeFinder,
  type Outcomes,
  sends,
  withPayload,
} from './occurrences.ts';
import { type ExploredAs, stubParent } from './pure-steps.ts';
import { hasOnSnapshot, replacedLogic } from './stub-actors.ts';

interface ChildOptions {
  readonly outcomes?: Outcomes;
  readonly limit?: number;
  readonly depth?: number;
}

type Explore = (
  machine: AnyStateMachine,
  options: ChildOptions & { readonly inputs: Readonly<Record<string, unknown>> },
  children: ChildMachines,
  as: ExploredAs,
) => Exploration;

type Found = { readonly exploration: Exploration; readonly outcomes: readonly ActorOutcome[] } | Failed;
type Failed = Extract<FoundOutcomes, { readonly problem: unknown }>;

/** Where a machine is explored: what it shares with the machines above it. */
interface Level {
  /** The outcomes of actors whose own are unknown. If absent, such actors are an error. */
  readonly assumed?: readonly ActorOutcome[] | undefined;
  /** The names of the actors with assumed outcomes, and why those of a child machine are unknown. */
  readonly assumedFor: Map<string, string>;
  /** How many more states all child machines together may have. */
  readonly left: { states: number };
  readonly known: Map<string, Map<AnyStateMachine, Found>>;
  readonly path: string;
  readonly above: readonly { readonly machine: AnyStateMachine; readonly input: string }[];
}

export const DEFAULT_LIMIT = 10_000;

const TOO_MANY = 'all child machines together have too many states; raise "limit"';

/** The most machines above a child machine: one may start itself with an ever-growing input. */
const MOST_ABOVE = 10;

/**
 * Finds the outcomes of the child machines of one machine: the outputs and errors with which their own explorations end, and the events that
 * they send to their parent, in any order. A child machine is explored once for each input.
 */
export class ChildMachines implements OutcomeFinder {
  readonly level: Level;
  explored: readonly ExploredChild[] = [];
  #found = new WeakMap<AnyActorRef, FoundOutcomes>();
  /** Why the outcomes of an actor are not those of its own exploration, by its name. */
  readonly #dependent = new Map<string, string>();
  /** The logic of spawned actors, by their names. */
  readonly #logics = new Map<string, AnyActorLogic>();
  readonly #explore: Explore;
  readonly #options: ChildOptions;
  readonly #startAgain = new Error('A child machine depends on its parent');

  constructor(explore: Explore, options: ChildOptions, level: Pick<Level, 'assumed'> & Partial<Level> = {}) {
    this.#explore = explore;
    this.#options = options;
    const left = { states: options.limit ?? DEFAULT_LIMIT };
    this.level = { assumedFor: new Map(), left, known: new Map(), path: '', above: [], ...level };
  }

  find(name: string, ref: AnyActorRef): FoundOutcomes {
    const found = this.#found.get(ref) ?? this.#search(name, ref);
    this.#found.set(ref, found);
    return found;
  }

  #search(name: string, ref: AnyActorRef): FoundOutcomes {
    const { assumed, assumedFor, path } = this.level;
    const dependent = this.#dependent.get(name);
    const logic = replacedLogic(ref);
    const declared = logic && declaredOutcomes(logic);
    if (declared !== undefined && dependent === undefined) return { outcomes: declared };
    const problem = dependent ?? '';
    const found = isMachine(logic) && problem === '' ? this.#childFor(logic, name, ref) : { problem };
    if (!('problem' in found)) {
      const { exploration, outcomes } = found;
      const known = this.explored.findIndex((one) => one.exploration === exploration);
      if (known < 0) this.explored = [...this.explored, { name, exploration }];
      return { outcomes, child: known < 0 ? this.explored.length - 1 : known };
    }
    if (assumed === undefined) return found;
    assumedFor.set(`${path}${name}`, firstLineOf(found.problem));
    return { outcomes: assumed };
  }

  #childFor(machine: AnyStateMachine, name: string, ref: AnyActorRef): Found {
    if (isXState6(machine)) return { problem: 'a child machine of XState 6 is not explored' };
    if (hasOnSnapshot(ref)) return { problem: '"onSnapshot" receives its snapshots' };
    const { known, path } = this.level;
    const [repeated] = repetitions({ input: inputOf(ref) });
    if (repeated !== undefined) return { problem: `${repeated}: it would get two copies of this object` };
    const parent = stubParent(parentOf(ref)?.id ?? '');
    try {
      const { copy, json } = withActor(inputOf(ref), 'its input', parentOf(ref), parent.ref);
      const input = JSON.stringify(json);
      const key = `${path}${name} ${ref.id} ${input}`;
      const byMachine = known.get(key) ?? new Map<AnyStateMachine, Found>();
      known.set(key, byMachine);
      const found = byMachine.get(machine) ?? this.#exploreChild(machine, name, input, copy, { id: ref.id, parent });
      byMachine.set(machine, found);
      return found;
    } catch (error) {
      return { problem: firstLineOf(error) };
    }
  }

  #exploreChild(machine: AnyStateMachine, name: string, key: string, input: unknown, as: Required<ExploredAs>): Found {
    const { above, path, ...level } = this.level;
    const { outcomes = {}, limit, depth } = this.#options;
    if (above.some((one) => one.machine === machine && one.input === key))
      return { problem: `${machine.id} starts itself again with the same input` };
    if (level.left.states <= 0) return { problem: TOO_MANY };
    if (above.length === MOST_ABOVE) return { problem: `it is nested in ${MOST_ABOVE} other machines` };
    const inner = Object.entries(outcomes).flatMap(([at, one]) =>
      at.startsWith(`${name}.`) ? [[at.slice(name.length + 1), one] as const] : [],
    );
    const children = new ChildMachines(
      this.#explore,
      // A depth of 0 only starts the parent.
      { outcomes: Object.fromEntries(inner), ...(limit !== undefined && { limit }), ...(depth && { depth }) },
      { ...level, path: `${path}${name}.`, above: [...above, { machine, input: key }] },
    );
    try {
      const exploration = this.#explore(machine, { ...children.#options, inputs: { '': input } }, children, as);
      return { exploration, outcomes: outcomesOf(exploration, as.parent.received) };
    } catch (error) {
      // Outcomes of an actor further inside are missing.
      const isMissing = error instanceof PostChainError && error.message.startsWith('"outcomes.');
      return { problem: isMissing ? error : firstLineOf(error) };
    }
  }

  /** Counts a state of the machine, and throws if all child machines together have too many. */
  countState(): void {
    const { above, left } = this.level;
    if (above.length > 0 && left.states-- <= 0) throw new PostChainError('exploration_failed', TOO_MANY);
  }

  requireOneLogic(name: string, ref: AnyActorRef): void {
    const logic = replacedLogic(ref);
    const known = this.#logics.get(name) ?? logic;
    if (known === undefined || this.#dependent.has(name)) return;
    this.#logics.set(name, known);
    if (known !== logic) this.#startWithout(name, 'actors with different logic have this name');
  }

  /** Throws if the machine has looked for an actor of one of its child machines by its system id. */
  requireOwn(systemIds: ReadonlySet<string>): void {
    for (const { name, exploration } of this.explored) {
      const id = systemIdsIn(exploration).find((one) => systemIds.has(one));
      if (id !== undefined) this.#startWithout(name, `an ancestor finds its actor "${id}" by system id`);
    }
  }

  requireIndependent(name: string, ref: AnyActorRef, { type }: EventObject, where: () => string): void {
    const logic = replacedLogic(ref);
    if (!isMachine(logic) || !('child' in this.find(name, ref))) return;
    if (!handledTypes(logic).some((one) => one === type || descriptorMatches(one, type))) return;
    this.#startWithout(name, `it is sent "${type}" ${where()}`);
  }

  #startWithout(name: string, problem: string): never {
    this.#dependent.set(name, problem);
    throw this.#startAgain;
  }

  /** Whether an error is that of `requireIndependent`. The exploration then has to start again without the outcomes of that actor. */
  isStartAgain(error: unknown): boolean {
    this.explored = [];
    this.#found = new WeakMap();
    this.#logics.clear();
    return error === this.#startAgain;
  }
}

/** Returns the system ids of the actors that the explored machine and its children start. */
function systemIdsIn({ states, children }: Exploration): readonly string[] {
  const own = states.flatMap(({ snapshot }) => refsIn(snapshot.children).flatMap((ref) => systemIdOf(ref) ?? []));
  return [...own, ...children.flatMap(({ exploration }) => systemIdsIn(exploration))];
}

/** Returns each distinct way in which the explored machine ends, and each event that its parent has received. */
function outcomesOf({ states }: Exploration, received: readonly EventObject[]): readonly ActorOutcome[] {
  const found = new Map<string, ActorOutcome>();
  const names = new Map<string, number>();
  const add = (outcome: ActorOutcome, json: unknown): void => {
    const key = `${outcome.kind} ${JSON.stringify([json, repetitions(outcome)])}`;
    if (found.has(key)) return;
    const nth = (names.get(outcome.name) ?? 0) + 1;
    names.set(outcome.name, nth);
    found.set(key, nth === 1 ? outcome : { ...outcome, name: `${outcome.name} (${nth})` });
  };
  for (const event of received) add(sends(event, labelOf(event)), withActor(event, `the event "${event.type}"`).json);
  for (const { snapshot } of states) {
    const { status, output, error } = snapshot;
    if (status === 'done') add(done(output, withPayload('done', output)), withActor(output, 'its output').json);
    const shown = error instanceof Error ? error.message : error;
    if (status === 'error') add(fails(error, withPayload('error', shown)), withActor(error, 'its error').json);
  }
  return [...found.values()];
}
