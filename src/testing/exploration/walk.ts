import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  type EventObject,
  type InspectionEvent,
  SimulatedClock,
} from 'xstate';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { firstLineOf } from '../first-line.ts';
import { applyEvent, missingFor } from './apply-event.ts';
import type { ExploreOptions } from './explore.ts';
import { brokenInvariant, type Invariants } from './invariants.ts';
import { occurrencesOf } from './occurrence.ts';
import { withStubActors } from './stub-actors.ts';

export interface WalkOptions<Machine extends AnyStateMachine>
  extends Omit<ExploreOptions<Machine>, 'abstraction' | 'limit' | 'depth'> {
  readonly invariants?: Invariants;
  /** As `createActor` takes it: for `collectCoverage`. */
  readonly inspect?: (event: InspectionEvent) => void;
  /** Of `inputs`, the one to begin with; without it, the first. */
  readonly input?: string;
}

/** A real actor on its way, wherever it is led. */
export interface Walk {
  readonly snapshot: AnyMachineSnapshot;
  /** What happened so far, in words. */
  readonly names: readonly string[];
  /** Of all that can happen where it stands, the one with this number, counted round; nothing where nothing can. */
  step(choice: number): void;
  stop(): void;
}

/**
 * Starts a walk for what enumeration cannot reach: contexts that are too large to be told apart, and long ways. Each step is real, and
 * throws `path_failed`, with all that happened, where an invariant does not hold. With fast-check's model runner:
 * `fc.commands([fc.nat().map(walkStep)])`, and `fc.modelRun(() => ({ model: {}, real: startWalk(machine, options) }), commands)`.
 */
export function startWalk<Machine extends AnyStateMachine>(machine: Machine, options: WalkOptions<Machine>): Walk {
  const { outcomes, events = [], inputs = {}, actors, invariants = {}, inspect } = options;
  const { input = Object.keys(inputs)[0] } = options;
  if (input !== undefined && !Object.hasOwn(inputs, input))
    throw new PostChainError(
      'invalid_option',
      `input: got "${input}"; wanted one of inputs (${Object.keys(inputs).join(', ') || 'there are none'}).`,
    );
  const occurrences = occurrencesOf(machine, outcomes, events as readonly EventObject[]);
  const actor = createActor(withStubActors(machine, actors), {
    input: input === undefined ? undefined : inputs[input],
    clock: new SimulatedClock(),
    logger: () => {},
    ...(inspect && { inspect }),
  } as never);
  // An unhandled error of an actor is seen in the snapshot.
  actor.subscribe({ error: () => {} });
  actor.start();
  const names: string[] = [];
  const snapshot = (): AnyMachineSnapshot => actor.getSnapshot() as AnyMachineSnapshot;
  const hold = (): void => {
    const broken = brokenInvariant(invariants, snapshot());
    if (broken !== null)
      throw new PostChainError('path_failed', `${broken}, after ${[input || 'its beginning', ...names].join(' → ')}.`);
  };
  if (snapshot().status === 'error')
    throw new PostChainError(
      'path_failed',
      `${machine.id} threw as it started${input === undefined ? ', with no input of inputs' : ''}: ${firstLineOf(snapshot().error)}`,
    );
  hold();
  return {
    get snapshot() {
      return snapshot();
    },
    names,
    step(choice) {
      const all = occurrences(snapshot()).filter((one) => missingFor(actor, one) === null);
      const occurrence = all[choice % Math.max(1, all.length)];
      if (occurrence === undefined) return;
      names.push(occurrence.name);
      applyEvent(actor, occurrence);
      hold();
    },
    stop: () => actor.stop(),
  };
}

/** One step of a walk as a command of fast-check. */
export const walkStep = (choice: number) => ({
  check: (): boolean => true,
  run: (_: unknown, walk: Walk): void => walk.step(choice),
  toString: (): string => `step ${choice}`,
});
