import type { AnyMachineSnapshot, AnyStateMachine, ErrorActorEvent, InspectionEvent } from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../../internal/printable.ts';
import { requireKnownOptions } from '../../internal/require-known.ts';
import { instrumentMachine } from '../structure/instrumented-machine.ts';
import { activeActors } from '../structure/running-actors.ts';
import { childMachines, EXPLORE_OPTIONS, type ExploreOptions } from './explore.ts';
import { createTestedActor } from './hosted-actor.ts';
import { type EventsOption, occurrencesOf } from './occurrences.ts';
import { brokenInvariant, type Invariants } from './run-path.ts';
import { runningChild, withStubActors } from './stub-actors.ts';

export interface WalkOptions<Machine extends AnyStateMachine>
  extends Omit<ExploreOptions<Machine>, 'abstraction' | 'limit' | 'depth'> {
  readonly invariants?: Invariants;
  /** Passed to `createActor`; `collectCoverage` provides one. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Name of the entry of `inputs` to start with. Default: the first. */
  readonly input?: string;
}

/** A running actor that a test leads step by step. */
export interface Walk {
  readonly snapshot: AnyMachineSnapshot;
  /** Names of the events so far. */
  readonly names: readonly string[];
  /** Makes the event with this number (modulo their count) occur, of those possible now. Does nothing if none is possible. */
  step(choice: number): void;
  stop(): void;
}

const NO_ERROR = Symbol('no error');

/**
 * Starts a walk: for state spaces too large to enumerate. Each step runs on a real actor and throws `path_failed`, with the events so far, if
 * an invariant is broken. For fast-check's model runner: `fc.commands([fc.nat().map(walkStep)])` and
 * `fc.modelRun(() => ({ model: {}, real: startWalk(machine, options) }), commands)`.
 */
export function startWalk<Machine extends AnyStateMachine>(machine: Machine, options: WalkOptions<Machine> = {}): Walk {
  requireKnownOptions('startWalk', options, `${EXPLORE_OPTIONS} invariants inspect input`);
  const { outcomes = {}, inputs = {}, actors: standIns = {}, invariants = {}, inspect } = options;
  const { input = Object.keys(inputs)[0] } = options;
  if (input !== undefined && !Object.hasOwn(inputs, input))
    throw new PostChainError(
      'invalid_option',
      `"input" must be a key of "inputs" (${Object.keys(inputs).join(', ') || 'which is empty'}); received "${input}"`,
    );
  const occurrences = occurrencesOf(machine, outcomes, options.events as EventsOption, childMachines(options));
  // An infinite loop makes an instrumented machine throw.
  const instrumented = instrumentMachine(withStubActors(machine));
  const stubbed = createTestedActor(instrumented, {
    original: machine,
    input: input === undefined ? undefined : inputs[input],
    standIns,
    inspect,
  });
  const actor = stubbed.ref;
  stubbed.start();
  const names: string[] = [];
  const snapshot = (): AnyMachineSnapshot => actor.getSnapshot() as AnyMachineSnapshot;
  const pathText = (): string => [input || 'start', ...names].join(' → ');
  const requireInvariants = (): void => {
    const broken = brokenInvariant(invariants, snapshot());
    if (broken !== null) throw new PostChainError('path_failed', `${broken}, after ${pathText()}`);
  };
  /** An actor's unhandled error ends the machine, as its chart specifies; any other error is a fault. */
  const requireNoError = (expected: unknown): void => {
    const { status, error } = snapshot();
    if (status !== 'error' || error === expected) return;
    const where = names.length === 0 ? `at the start${input === undefined ? ', without an input' : ''}` : 'and stopped';
    throw new PostChainError(
      'path_failed',
      `${machine.id} threw ${where}: ${firstLineOf(error)}${names.length === 0 ? '' : `, after ${pathText()}`}`,
    );
  };
  requireNoError(NO_ERROR);
  requireInvariants();
  return {
    get snapshot() {
      return snapshot();
    },
    names,
    step(choice) {
      const ended = activeActors(snapshot()).filter((one) => runningChild(actor, one) === undefined);
      const place = { snapshot: snapshot(), ended: ended.map(({ id }) => id), timers: stubbed.timers() };
      const possible = occurrences.in(place);
      const occurrence = possible[choice % Math.max(1, possible.length)];
      if (occurrence === undefined) return;
      names.push(occurrence.name);
      const where = JSON.stringify(place.snapshot.value);
      instrumented.drainStep();
      stubbed.apply(occurrence);
      occurrences.requireNoPayload(() => `in ${where}`);
      requireNoError(occurrence.kind === 'error' ? (occurrence.event as ErrorActorEvent).error : NO_ERROR);
      requireInvariants();
    },
    stop: () => actor.stop(),
  };
}

/** Returns one step of a walk as a fast-check command. */
export const walkStep = (choice: number) => ({
  check: (): boolean => true,
  run: (_: unknown, walk: Walk): void => walk.step(choice),
  toString: (): string => `step ${choice}`,
});
