import type { AnyMachineSnapshot, AnyStateMachine, InspectionEvent, SnapshotFrom } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { describeTransition } from '../structure/chart-structure.ts';
import type { GuardCheck, InstrumentedStep } from '../structure/instrumented-machine.ts';
import { describeDifference } from './exact-json.ts';
import type { Exploration } from './exploration.ts';
import { createTestedActor } from './hosted-actor.ts';
import { type Path, pathThrough } from './paths.ts';
import type { StubbedActor } from './stub-actors.ts';
import { failureOn, routeOf, shortestFailure, systemError, TwinRun } from './system-route.ts';
import { SYSTEM_OPTIONS, SystemDriver, type SystemOptions } from './tested-system.ts';

/** Conditions on every snapshot, by name. A condition is broken if it returns false or throws. */
export type Invariants = Readonly<Record<string, (snapshot: AnyMachineSnapshot) => unknown>>;

export interface RunPathOptions {
  readonly invariants?: Invariants;
  /** Passed to `createActor`; `collectCoverage` provides one. */
  readonly inspect?: (event: InspectionEvent) => void;
}

/**
 * Runs a path on a real actor with a simulated clock and stub actors. After each step, the actor must be in the explored state, have taken the
 * same transitions with the same guard results, have the same context as far as the abstraction reads it, and satisfy the invariants.
 * Throws `path_failed` with the shortest failing path and the expected and actual values.
 *
 * With a `system`, the path is then run on that system, step by step, and what it shows must be what the machine's snapshot stands for. Rejects
 * with `path_failed` and the shortest failing path, also if the system throws or does not answer; with `invalid_option` if the adapter has no
 * function for a step; with `cancelled` if `signal` aborts.
 *
 * @example
 * await runPath(exploration, path, { system: { reset: () => page.goto(url), send: ({ type }) => page.click(`#${type}`), read: () => page.textContent('#state') } });
 */
export function runPath<Machine extends AnyStateMachine, Observation>(
  exploration: Exploration<Machine, SnapshotFrom<Machine>>,
  path: Path,
  options: RunPathOptions & SystemOptions<Machine, Observation>,
): Promise<void>;
export function runPath(exploration: Exploration, path: Path, options?: RunPathOptions): void;
export function runPath(
  exploration: Exploration,
  path: Path,
  options: RunPathOptions & Partial<SystemOptions> = {},
): void | Promise<void> {
  requireKnownOptions('runPath', options, `invariants inspect ${SYSTEM_OPTIONS}`);
  const { system } = options;
  if (system === undefined) runOnMachine(exploration, path, options);
  else return runOnSystem(exploration, path, { ...options, system });
}

async function runOnSystem(
  exploration: Exploration,
  path: Path,
  options: RunPathOptions & SystemOptions,
): Promise<void> {
  const { machine } = exploration;
  const driver = new SystemDriver(machine, options);
  for (const { occurrence } of path.edges) {
    const missing = driver.missingFor(occurrence);
    if (missing !== null)
      throw new PostChainError(
        'invalid_option',
        `"system.${missing}" is missing, so that "${occurrence.name}" of the path ${path.name} cannot be done; add it, or leave the path out`,
      );
  }
  runOnMachine(exploration, path, options);
  const failing = await failureOn(routeOf(path), new TwinRun(exploration, driver, path.start));
  if (failing !== null) throw systemError(machine, await shortestFailure(exploration, driver, failing));
}

function runOnMachine(exploration: Exploration, path: Path, options: RunPathOptions): void {
  const failure = findFailure(exploration, path, options);
  if (failure === null) return;
  const edge = path.edges[failure.step - 1];
  const shorter = edge === undefined ? path : pathThrough(exploration, edge);
  const shorterFailure = shorter.edges.length < failure.step ? findFailure(exploration, shorter, options) : null;
  const [{ start, edges }, { step, what }] = shorterFailure === null ? [path, failure] : [shorter, shorterFailure];
  const names = edges.slice(0, step).map(({ occurrence }) => occurrence.name);
  throw new PostChainError('path_failed', `${what}, after ${[start.name || 'start', ...names].join(' → ')}`);
}

/** Describes the first broken invariant; null if all hold. */
export function brokenInvariant(invariants: Invariants, snapshot: AnyMachineSnapshot): string | null {
  const broken = (name: string, reason: string): string =>
    `Invariant "${name}" is broken in ${JSON.stringify(snapshot.value)}${reason}`;
  for (const [name, holds] of Object.entries(invariants))
    try {
      if (holds(snapshot) === false) return broken(name, '');
    } catch (error) {
      return broken(name, `: ${firstLineOf(error)}`);
    }
  return null;
}

interface Failure {
  /** Number of steps taken, including the failing one. */
  readonly step: number;
  readonly what: string;
}

function findFailure(
  exploration: Exploration,
  path: Path,
  { invariants = {}, inspect }: RunPathOptions,
): Failure | null {
  const { instrumented, machine: original, standIns } = exploration;
  // Discard what a failed path may have left behind.
  instrumented.drainStep();
  const stubbed = createTestedActor(instrumented, { original, input: path.start.input, standIns, inspect });
  const actor = stubbed.ref;
  const check = (expected: InstrumentedStep, state: number): string | null =>
    differenceAfter(exploration, expected, state, stubbed, instrumented.drainStep()) ??
    brokenInvariant(invariants, actor.getSnapshot() as AnyMachineSnapshot);
  try {
    stubbed.start();
    const atStart = check(path.start, path.start.state);
    if (atStart !== null) return { step: 0, what: atStart };
    for (const [index, edge] of path.edges.entries()) {
      const what = stubbed.apply(edge.occurrence) ?? check(edge, edge.to);
      if (what !== null) return { step: index + 1, what };
    }
    return null;
  } finally {
    actor.stop();
  }
}

/** Describes how the actor differs from the exploration after a step, or returns null. */
function differenceAfter(
  exploration: Exploration,
  expected: InstrumentedStep,
  state: number,
  { ref, ended }: StubbedActor,
  received: InstrumentedStep,
): string | null {
  const snapshot = ref.getSnapshot() as AnyMachineSnapshot;
  const explored = exploration.states[state];
  const [there, here] = [JSON.stringify(explored?.value), JSON.stringify(snapshot.value)];
  if (snapshot.status === 'error' && explored?.snapshot.status !== 'error')
    return `The actor failed in ${here}: ${firstLineOf(snapshot.error)}`;
  if (there !== here) return `Expected state ${there}, received ${here}`;
  const guard = guardDifference(exploration, expected.guards, received.guards);
  if (guard !== null) return guard;
  if (expected.taken.join() !== received.taken.join())
    return `Expected transitions ${describeTaken(exploration, expected.taken)}, received ${describeTaken(exploration, received.taken)}`;
  const difference =
    explored &&
    describeDifference(exploration.keyOf(snapshot, ended()), exploration.keyOf(explored.snapshot, explored.ended));
  return difference == null
    ? null
    : `An action depends on more than its context and event, or the abstraction leaves out what decides: in ${here}, ${difference}`;
}

function guardDifference(
  { chart }: Exploration,
  expected: readonly GuardCheck[],
  received: readonly GuardCheck[],
): string | null {
  for (const [index, { transition, holds }] of expected.entries()) {
    const actual = received[index];
    if (actual?.transition === transition && actual.holds === holds) continue;
    const guard = `the guard of "${describeTransition(chart, transition)}"`;
    return actual?.transition === transition
      ? `Expected ${guard} to be ${holds}, received ${actual.holds}`
      : `Expected ${guard} to be evaluated`;
  }
  return null;
}

const describeTaken = ({ chart }: Exploration, taken: readonly number[]): string =>
  taken.length === 0 ? 'none' : taken.map((index) => `"${describeTransition(chart, index)}"`).join('; ');
