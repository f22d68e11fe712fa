import { type AnyStateMachine, type AnyTransitionDefinition, and, or } from 'xstate';
import { chartOf } from '../../durable/charts/chart.ts';
import { nodesOf } from '../../durable/charts/chart-nodes.ts';
import { replaceBehavior, reportingAction } from '../../xstate/actors.ts';
import type { Microstep } from '../../xstate/port.ts';
import { isXState6 } from '../../xstate/ports.ts';
import { observeEntries, originalTransition } from '../../xstate/six-machines.ts';
import { describeTransition, transitionsOf } from './chart-structure.ts';

/** The most transitions in one step. Only an infinite loop takes more. */
const MAX_TRANSITIONS = 1_000;

/** What a machine did in one step. Transitions are indexes into `chartOf(machine).transitions`. */
export interface InstrumentedStep {
  /** The transitions taken, in order. */
  readonly taken: readonly number[];
  /** The guards evaluated, in order. */
  readonly guards: readonly GuardCheck[];
  /** Ids of the states entered, in order. */
  readonly entered: readonly string[];
}

export interface GuardCheck {
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
  /** Records a microstep of a machine of XState 6, whose transitions cannot record themselves. */
  stepped(step: Pick<Microstep, 'taken'>): void;
}

/**
 * Returns a copy of a machine that behaves the same and records its transitions, guard results and entered states. XState reports neither
 * false guards nor, for pure steps, the transitions taken. To detect nondeterminism, a guard's first 64
 * evaluations, and then every 64th, are done twice.
 */
export function instrumentMachine<Machine extends AnyStateMachine>(machine: Machine): InstrumentedMachine<Machine> {
  const copy = machine.provide({}) as Machine;
  let taken: number[] = [];
  let guards: GuardCheck[] = [];
  let entered: string[] = [];
  let nondeterministicGuard: number | null = null;
  // Most steps of an exploration repeat an earlier one. Sharing equal steps keeps large explorations small.
  const steps = new Map<string, InstrumentedStep>();
  function recordTransition(index: number): void {
    taken.push(index);
    if (taken.length > MAX_TRANSITIONS)
      throw new RangeError(`infinite loop at ${describeTransition(chartOf(machine), index)}`);
  }
  const transitions = transitionsOf(copy);
  const indexes = new Map(transitions.map((transition, index) => [transition, index]));
  const isSix = isXState6(machine);
  const recordGuard = (index: number, first: boolean, second: boolean): void => {
    if (first !== second) nondeterministicGuard ??= index;
    guards.push({ transition: index, holds: first });
  };
  if (isSix) observeSix(copy, transitions, recordGuard, (id) => void entered.push(id));
  else
    for (const [index, transition] of transitions.entries()) {
      const { guard } = transition;
      replaceBehavior(transition, {
        guard: guard && reportingGuard(guard, (first, second) => recordGuard(index, first, second)),
        actions: [reportingAction(() => recordTransition(index)), ...transition.actions],
      });
    }
  // The last entry action: a state whose entry throws is not entered.
  if (!isSix) for (const { id, entry } of nodesOf(copy)) entry.push(reportingAction(() => entered.push(id)));
  return {
    machine: copy,
    drainStep() {
      const results = guards.map(({ transition, holds }) => (holds ? transition : `!${transition}`));
      const key = `${taken.join()} ${results.join()} ${entered.join()}`;
      const step = steps.get(key) ?? { taken, guards, entered };
      steps.set(key, step);
      taken = [];
      guards = [];
      entered = [];
      return step;
    },
    stepped: (step) => {
      for (const transition of step.taken) recordTransition(indexes.get(transition) ?? -1);
    },
    get nondeterministicGuard() {
      return nondeterministicGuard;
    },
  };
}

/** Makes a copy of a machine of XState 6 report its guards, each evaluated twice, and the states that it enters. */
function observeSix(
  copy: AnyStateMachine,
  transitions: readonly AnyTransitionDefinition[],
  recordGuard: (index: number, first: boolean, second: boolean) => void,
  recordEntry: (id: string) => void,
): void {
  for (const [index, transition] of transitions.entries()) {
    const original = originalTransition(transition);
    const { guard } = original;
    if (typeof guard !== 'function') continue;
    original.guard = (args) => {
      const first = Boolean(guard(args));
      recordGuard(index, first, Boolean(guard(args)));
      return first;
    };
  }
  observeEntries(copy, recordEntry);
}

type Guard = NonNullable<AnyTransitionDefinition['guard']>;

const FIRST_EVALUATIONS = 64;

/** Wraps a guard in XState's own `and` and `or`, so that named, parameterized and composed guards work unchanged. */
function reportingGuard(guard: Guard, report: (first: boolean, second: boolean) => void): Guard {
  const results = [false, false];
  let evaluations = 0;
  const once = (): boolean => {
    evaluations += 1;
    return evaluations > FIRST_EVALUATIONS && evaluations % FIRST_EVALUATIONS !== 0;
  };
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
  const sameAgain = (): boolean => once() && record(1, results[0] === true);
  return and([evaluate(0), or([sameAgain, evaluate(1)]), firstResult]) as Guard;
}
