import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Exploration, ExploredPlace, StartState } from './exploration.ts';
import type { Occurrence } from './occurrences.ts';
import { type Path, pathThrough } from './paths.ts';
import type { StepFailure, SystemDriver } from './tested-system.ts';

/** A start and what occurs after it, as a test does it to a system. */
export interface Route {
  readonly start: StartState;
  readonly steps: readonly Occurrence[];
}

/** The shortest known route that fails at its last step, or at its start if it has no steps. */
export interface FailingRoute extends Route {
  readonly failure: StepFailure;
}

export const routeOf = ({ start, edges }: Path): Route => ({ start, steps: edges.map(({ occurrence }) => occurrence) });

const routeName = ({ start, steps }: Route): string =>
  [start.name || 'start', ...steps.map(({ name }) => name)].join(' → ');

const isSameStep = (one: Occurrence, other: Occurrence): boolean =>
  one.kind === other.kind && (one.kind === 'sent' ? one.event.type === other.event.type : one.name === other.name);

/** The steps of the machine, which are pure. */
export class ModelRun {
  readonly #exploration: Exploration;
  #place: ExploredPlace;

  constructor(exploration: Exploration, start: StartState) {
    const place = exploration.states[start.state];
    if (place === undefined) throw new RangeError(`State ${start.state} does not exist`);
    this.#exploration = exploration;
    this.#place = place;
  }

  get place(): ExploredPlace {
    return this.#place;
  }

  /** Returns a step as it can occur now, or null. */
  possible(step: Occurrence): Occurrence | null {
    const found = this.#exploration.possibleIn(this.#place).find((one) => isSameStep(one, step));
    // Ids of actors differ from run to run, and the payload of an event may be another one.
    return found === undefined ? null : step.kind === 'sent' ? step : found;
  }

  /** Takes a step, and returns the indexes of the transitions taken. */
  take(step: Occurrence): readonly number[] {
    const { instrumented } = this.#exploration;
    instrumented.drainStep();
    this.#place = this.#exploration.stepFrom(this.#place, step);
    return instrumented.drainStep().taken;
  }
}

/** Steps that the machine and the system take together. */
export class TwinRun {
  readonly start: StartState;
  /** The steps so far, including one that has failed. */
  readonly steps: Occurrence[] = [];
  readonly #model: ModelRun;
  readonly #driver: SystemDriver;
  readonly #onTaken: (transitions: readonly number[]) => void;

  constructor(
    exploration: Exploration,
    driver: SystemDriver,
    start: StartState,
    onTaken: (transitions: readonly number[]) => void = () => {},
  ) {
    this.start = start;
    this.#model = new ModelRun(exploration, start);
    this.#driver = driver;
    this.#onTaken = onTaken;
  }

  /** Brings the system to the start of the machine. */
  async begin(): Promise<StepFailure | null> {
    this.#onTaken(this.start.taken);
    return (await this.#driver.reset(this.start.input)) ?? (await this.#compare());
  }

  /** Returns a step as it can occur now, or null, also if the adapter cannot do it. */
  possible(step: Occurrence): Occurrence | null {
    const found = this.#model.possible(step);
    return found === null || this.#driver.missingFor(found) !== null ? null : found;
  }

  async take(step: Occurrence): Promise<StepFailure | null> {
    this.steps.push(step);
    this.#onTaken(this.#model.take(step));
    return (await this.#driver.perform(step)) ?? (await this.#compare());
  }

  #compare(): Promise<StepFailure | null> {
    return this.#driver.compare(this.#model.place.snapshot);
  }
}

/** Runs a route. Returns its shortest part that fails, or null. */
export async function failureOn({ steps }: Route, run: TwinRun): Promise<FailingRoute | null> {
  const failed = (failure: StepFailure): FailingRoute => ({ start: run.start, steps: run.steps, failure });
  const atStart = await run.begin();
  if (atStart !== null) return failed(atStart);
  for (const step of steps) {
    const possible = run.possible(step);
    const failure = possible && (await run.take(possible));
    if (failure !== null) return failed(failure);
  }
  return null;
}

/**
 * Returns the shortest failing route found: the shortest one of the exploration that ends with the same step in the same state, or the given
 * one, without every step that is not needed. Runs the system for each attempt.
 */
export async function shortestFailure(
  exploration: Exploration,
  driver: SystemDriver,
  first: FailingRoute,
): Promise<FailingRoute> {
  if (first.failure.isAborted) return first;
  let best = first;
  const tried = new Set<string>();
  const isShorter = async (route: Route): Promise<boolean> => {
    const steps = occurringSteps(exploration, route).steps;
    const name = routeName({ start: route.start, steps });
    if (steps.length >= best.steps.length || tried.has(name)) return false;
    tried.add(name);
    const found = await failureOn({ start: route.start, steps }, new TwinRun(exploration, driver, route.start));
    if (found === null || found.failure.isAborted) return false;
    best = found;
    return true;
  };
  const explored = exploredShortcut(exploration, first);
  if (explored !== null) await isShorter(explored);
  for (let before = 0; before !== best.steps.length; ) {
    before = best.steps.length;
    for (let size = Math.ceil(before / 2); size >= 1; size = Math.floor(size / 2))
      for (let at = 0; at + size <= best.steps.length; )
        if (!(await isShorter({ start: best.start, steps: best.steps.toSpliced(at, size) }))) at += 1;
  }
  return best;
}

/** Returns the steps of a route that can occur one after the other, and the place that they lead to. */
function occurringSteps(exploration: Exploration, { start, steps }: Route) {
  const model = new ModelRun(exploration, start);
  const occurring = steps.flatMap((step) => {
    const possible = model.possible(step);
    if (possible === null) return [];
    model.take(possible);
    return [possible];
  });
  return { steps: occurring, place: model.place };
}

/** Returns the shortest explored route to the state before the last step, and that step; null if there is none. */
function exploredShortcut(exploration: Exploration, { start, steps }: Route): Route | null {
  const last = steps.at(-1);
  if (last === undefined) return null;
  const { place } = occurringSteps(exploration, { start, steps: steps.slice(0, -1) });
  const key = exploration.keyOf(place.snapshot, place.ended);
  const state = exploration.states.find(({ snapshot, ended }) => exploration.keyOf(snapshot, ended) === key);
  const edge = exploration.edgesFrom[state?.id ?? -1]?.find(({ occurrence }) => isSameStep(occurrence, last));
  return edge === undefined ? null : routeOf(pathThrough(exploration, edge));
}

/** Returns the error for a failure. `found` says how it was found. */
export function systemError(machine: AnyStateMachine, route: FailingRoute, found = ''): PostChainError {
  const { what, isAborted, cause } = route.failure;
  const begin = isAborted ? `The test of ${machine.id} was aborted` : `The system differs from ${machine.id}`;
  return new PostChainError(
    isAborted ? 'cancelled' : 'path_failed',
    `${begin}: ${what}, after ${routeName(route)}${found === '' ? '' : ` (${found})`}`,
    { cause },
  );
}
