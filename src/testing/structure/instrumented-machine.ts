import { type AnyStateMachine, type AnyTransitionDefinition, and, enqueueActions, or } from 'xstate';
import { chartOf } from '../../durable/charts/chart.ts';
import { replaceBehavior } from '../../internal/xstate-internals.ts';
import { describeTransition, transitionsOf } from './chart-structure.ts';

/** The most transitions in one step. Only an infinite loop of `always` transitions takes more. */
const MAX_TRANSITIONS = 1_000;

/** What a machine did in one step. Transitions are indexes into `chartOf(machine).transitions`. */
export interface InstrumentedStep {
  /** The transitions taken, in order. */
  readonly taken: readonly number[];
  /** The guards evaluated, in order. */
  readonly guards: readonly EvaluatedGuard[];
}

export interface EvaluatedGuard {
  /** The guard's transition. */
  readonly transition: number;
  readonly holds: boolean;
}

export interface InstrumentedMachine<Machine extends AnyStateMachine> {
  readonly machine: Machine;
  /** Returns what the machine did since the previous call. */
  drainStep(): InstrumentedStep;
  /** The transition of the first guard that returned two different results for the same input, or null. */
  readonly nondeterministicGuard: number | null;
}

/**
 * Returns a copy of a machine that behaves the same and records its transitions and guard results. XState reports neither false guards nor,
 * for pure steps, the transitions taken. Each guard is evaluated twice to detect nondeterminism.
 */
export function instrumentMachine<Machine extends AnyStateMachine>(machine: Machine): InstrumentedMachine<Machine> {
  const copy = machine.provide({}) as Machine;
  let taken: number[] = [];
  let guards: EvaluatedGuard[] = [];
  let nondeterministicGuard: number | null = null;
  // Most steps of an exploration repeat an earlier one. Sharing equal steps keeps large explorations small.
  const steps = new Map<string, InstrumentedStep>();
  function recordTransition(index: number): void {
    taken.push(index);
    if (taken.length > MAX_TRANSITIONS)
      throw new RangeError(`infinite loop of always transitions at ${describeTransition(chartOf(machine), index)}`);
  }
  for (const [index, transition] of transitionsOf(copy).entries()) {
    const { guard } = transition;
    replaceBehavior(transition, {
      guard:
        guard &&
        evaluatedTwice(guard, (first, second) => {
          if (first !== second) nondeterministicGuard ??= index;
          guards.push({ transition: index, holds: first });
        }),
      actions: [enqueueActions(() => recordTransition(index)), ...transition.actions],
    });
  }
  return {
    machine: copy,
    drainStep() {
      const results = guards.map(({ transition, holds }) => (holds ? transition : `!${transition}`));
      const key = `${taken.join()} ${results.join()}`;
      const step = steps.get(key) ?? { taken, guards };
      steps.set(key, step);
      taken = [];
      guards = [];
      return step;
    },
    get nondeterministicGuard() {
      return nondeterministicGuard;
    },
  };
}

type Guard = NonNullable<AnyTransitionDefinition['guard']>;

/** Wraps a guard in XState's own `and` and `or`, so that named, parameterized and composed guards work unchanged. */
function evaluatedTwice(guard: Guard, report: (first: boolean, second: boolean) => void): Guard {
  const results = [false, false];
  const record = (turn: number, holds: boolean): true => {
    results[turn] = holds;
    return true;
  };
  const evaluate = (turn: number) => or([and([guard as never, () => record(turn, true)]), () => record(turn, false)]);
  const firstResult = (): boolean => {
    const [first = false, second = false] = results;
    report(first, second);
    return first;
  };
  return and([evaluate(0), evaluate(1), firstResult]) as Guard;
}
