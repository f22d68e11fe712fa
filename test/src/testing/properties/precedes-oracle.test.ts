import { describe, expect, it } from 'vitest';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createMachine,
  initialTransition,
  raise,
  transition,
} from 'xstate';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { type PrecedesTimes, precedes, type StepMark } from '../../../../src/testing/properties/precedes.ts';
import { findingsOf } from '../../../../src/testing/properties/properties.ts';
import { activeNodes } from '../../../../src/xstate/actors.ts';
import { createRandom, type Random, SEED } from '../../../support/random.ts';

const EVENTS = ['A', 'B'] as const;
const LENGTH = 8;

/** A random machine of four states. Each transition and each entry has an action with its name. */
function randomMachine(random: Random): AnyStateMachine {
  const name = (at: number) => `s${at}`;
  const states = Object.fromEntries(
    [0, 1, 2, 3].map((at) => {
      const on = Object.fromEntries(
        EVENTS.filter(() => random.chance(0.6)).map((event) => [
          event,
          {
            ...(random.chance(0.85) && { target: `#${name(random.int(0, 3))}` }),
            ...(random.chance(0.5) && { reenter: true }),
            actions: [
              'moved',
              ...(random.chance(0.3) ? ['paid'] : []),
              ...(random.chance(0.2) ? [raise({ type: 'R' })] : []),
            ],
          },
        ]),
      );
      const raised = random.chance(0.4) && {
        R: { target: `#${name(random.int(0, 3))}`, actions: ['moved', 'raised'] },
      };
      const always = at < 2 &&
        random.chance(0.15) && { always: { target: `#${name(random.int(at + 1, 3))}`, actions: 'moved' } };
      const state = {
        id: name(at),
        entry: `enter ${name(at)}`,
        exit: `exit ${name(at)}`,
        on: { ...on, ...raised },
        ...always,
      };
      return [
        name(at),
        at === 3 && random.chance(0.4) ? { id: 's3', type: 'final', entry: 'enter s3', exit: 'exit s3' } : state,
      ];
    }),
  );
  const { s3, ...others } = states;
  const nested = random.chance(0.5);
  const all = nested ? { ...others, s2: { ...(others['s2'] as object), initial: 's3', states: { s3 } } } : states;
  return createMachine({ id: 'm', initial: 's0', states: all } as never) as unknown as AnyStateMachine;
}

interface Taken {
  readonly event: string | null;
  readonly actions: readonly string[];
  readonly snapshot: AnyMachineSnapshot;
}

function* paths(machine: AnyStateMachine): Generator<readonly Taken[]> {
  const taken = (
    event: string | null,
    [snapshot, actions]: readonly [unknown, readonly { type: string }[]],
  ): Taken => ({
    event,
    actions: actions.map(({ type }) => type),
    snapshot: snapshot as AnyMachineSnapshot,
  });
  function* from(path: readonly Taken[]): Generator<readonly Taken[]> {
    if (path.length > LENGTH) return yield path;
    for (const type of EVENTS) {
      const last = path.at(-1) as Taken;
      yield* from([...path, taken(type, transition(machine, last.snapshot, { type }) as never)]);
    }
  }
  yield* from([taken(null, initialTransition(machine) as never)]);
}

const active = ({ snapshot }: Taken, id: string) => activeNodes(snapshot).some((node) => node.id === id);

function does(step: Taken, mark: StepMark, whileActive = false): boolean {
  if ('event' in mark) return step.event === mark.event && step.actions.includes('moved');
  if ('state' in mark)
    return whileActive ? active(step, String(mark.state)) : step.actions.includes(`enter ${mark.state}`);
  return 'action' in mark && step.actions.includes(mark.action);
}

function breaks(path: readonly Taken[], first: StepMark, later: StepMark, times: PrecedesTimes): boolean {
  return path.some((step, at) => {
    if (!does(step, later, times === 'never')) return false;
    if (times === 'never') return path.slice(0, at + 1).some((one) => does(one, first));
    const previous = times === 'each' ? path.slice(0, at).findLastIndex((one) => does(one, later)) : -1;
    return !path.slice(previous + 1, at + 1).some((one) => does(one, first));
  });
}

const MARKS: readonly StepMark[] = [
  ...EVENTS.map((event) => ({ event })),
  ...['s0', 's1', 's2', 's3'].map((state) => ({ state })),
  ...['paid', 'raised', 'enter s1', 'exit s2', 'exit s3'].map((action) => ({ action })),
];

describe('precedes on random machines', () => {
  it('finds what an enumeration of all paths finds', () => {
    for (let number = 0; number < 6; number += 1) {
      const random = createRandom(SEED + number);
      const machine = randomMachine(random);
      const all = [...paths(machine)];
      const exploration = explore(machine, {
        events: EVENTS.filter((type) => machine.events.includes(type)).map((type) => ({ type })),
      });
      for (const times of ['once', 'each', 'never'] as const)
        for (const first of MARKS)
          for (const later of MARKS) {
            const happens = (mark: StepMark, whileActive = false) =>
              all.some((path) => path.some((step) => does(step, mark, whileActive)));
            const fails =
              !happens(later, times === 'never') ||
              (times === 'never' && !happens(first)) ||
              all.some((path) => breaks(path, first, later, times));
            const [finding] = findingsOf(exploration, [precedes(first, later, times)]);
            expect(finding?.witness !== null, `${number}: ${finding?.property}`).toBe(fails);
          }
    }
  });
});
