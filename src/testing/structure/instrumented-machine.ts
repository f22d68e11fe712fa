import { type AnyStateMachine, type AnyTransitionDefinition, and, enqueueActions, or } from 'xstate';
import { chartOf } from '../../engine/charts/chart.ts';
import { replaceBehavior } from '../../internal/xstate-internals.ts';
import { transitionsOf } from './groups.ts';
import { placeInWords } from './place-words.ts';

/** Transitions in one step. More come only of `always` transitions that lead into each other without end. */
const MOST_AT_ONCE = 1_000;

/** What one step of a machine did, by the places of its transitions in `chartOf(machine).transitions`. */
export interface InstrumentedStep {
  /** In the order in which they were taken. */
  readonly taken: readonly number[];
  /** What each guard said that was asked, in order. */
  readonly verdicts: readonly EvaluatedGuard[];
}

export interface EvaluatedGuard {
  readonly place: number;
  readonly holds: boolean;
}

/** A machine that tells what it does. */
export interface InstrumentedMachine<Machine extends AnyStateMachine> {
  readonly machine: Machine;
  /** What was done since this was last asked. */
  told(): InstrumentedStep;
  /** The place of the first guard that gave two answers to one question; null where none did. */
  readonly fickle: number | null;
}

/**
 * A copy of a machine that takes the same steps and tells of them: XState tells neither which guards said no nor, of a pure step, which
 * transitions were taken. Each guard is asked twice, so that one which does not give the same answer is found out.
 */
export function instrumentMachine<Machine extends AnyStateMachine>(machine: Machine): InstrumentedMachine<Machine> {
  const copy = machine.provide({}) as Machine;
  let taken: number[] = [];
  let verdicts: EvaluatedGuard[] = [];
  let fickle: number | null = null;
  // Most steps of an exploration are like an earlier one: they are told by the same words.
  const said = new Map<string, InstrumentedStep>();
  function note(place: number): void {
    taken.push(place);
    if (taken.length > MOST_AT_ONCE)
      throw new RangeError(`it goes in a circle at once, by ${placeInWords(chartOf(machine), place)}`);
  }
  for (const [place, transition] of transitionsOf(copy).entries()) {
    const { guard } = transition;
    replaceBehavior(transition, {
      guard:
        guard &&
        askedTwice(guard, (first, second) => {
          if (first !== second) fickle ??= place;
          verdicts.push({ place, holds: first });
        }),
      actions: [enqueueActions(() => note(place)), ...transition.actions],
    });
  }
  return {
    machine: copy,
    told() {
      const key = `${taken.join()} ${verdicts.map(({ place, holds }) => (holds ? place : `!${place}`)).join()}`;
      const step = said.get(key) ?? { taken, verdicts };
      said.set(key, step);
      taken = [];
      verdicts = [];
      return step;
    },
    get fickle() {
      return fickle;
    },
  };
}

type Guard = NonNullable<AnyTransitionDefinition['guard']>;

/** A guard of any kind, by name and with parameters too, is asked as XState asks it: within its own `and` and `or`. */
function askedTwice(guard: Guard, hear: (first: boolean, second: boolean) => void): Guard {
  const said = [false, false];
  const ask = (turn: number) => or([and([guard as never, () => note(turn, true)]), () => note(turn, false)]);
  const note = (turn: number, holds: boolean): true => {
    said[turn] = holds;
    return true;
  };
  const answer = (): boolean => {
    const [first = false, second = false] = said;
    hear(first, second);
    return first;
  };
  return and([ask(0), ask(1), answer]) as Guard;
}
