import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createActor,
  createMachine,
  type InspectionEvent,
  SimulatedClock,
} from 'xstate';
import { transitionsTaken } from '../../../../src/internal/xstate-internals.ts';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { reachedItems } from '../../../../src/testing/exploration/reached-items.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { withStubActors } from '../../../../src/testing/exploration/stub-actors.ts';
import { noUnreachableState } from '../../../../src/testing/properties/properties.ts';
import { transitionsOf } from '../../../../src/testing/structure/chart-structure.ts';
import { coverageItems } from '../../../../src/testing/structure/coverage-items.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';
import { sampleSize } from '../../../support/soak.ts';

const machines = Object.entries(xstatePatterns) as unknown as readonly (readonly [
  string,
  { readonly machine: AnyStateMachine } & ExploreOptions<AnyStateMachine>,
])[];
const explored = new Map(machines.map(([name, { machine, ...options }]) => [name, explore(machine, options)]));
const of = (name: string): Exploration => {
  const found = explored.get(name);
  if (found === undefined) throw new Error(name);
  return found;
};

/** Records the transitions that XState's own inspection reports. */
function recordTransitions(machine: AnyStateMachine): {
  readonly inspect: (event: InspectionEvent) => void;
  take(): number[];
} {
  const all = transitionsOf(machine);
  const taken: number[] = [];
  return {
    inspect(event) {
      if (event.type === '@xstate.microstep')
        taken.push(
          ...transitionsTaken(event)
            .map((transition) => all.indexOf(transition))
            .filter((index) => index >= 0),
        );
    },
    take: () => taken.splice(0),
  };
}

describe.each(machines.map(([name]) => [name] as const))('the exploration of an XState pattern: %s', (name) => {
  const exploration = of(name);

  it('reaches every state, transition, guard result, actor outcome and delay', () => {
    const reached = reachedItems(exploration);
    const missing = coverageItems(exploration.machine).filter(({ key }) => !reached.has(key));
    // `shipping` has one final state, so the guard cannot be false.
    const unreachable: Readonly<Record<string, readonly string[]>> = {
      checkout: ['shipping, done, [stateIn] → over: false'],
    };
    expect(missing.map((item) => item.name)).toEqual(unreachable[name] ?? []);
  });

  it('matches a real actor on random walks', () => {
    const { machine, starts, edgesFrom, states } = exploration;
    fc.assert(
      fc.property(fc.nat(starts.length - 1), fc.array(fc.nat(), { maxLength: 25 }), (nth, choices) => {
        const real = withStubActors(machine);
        const recorded = recordTransitions(real);
        const start = starts[nth];
        const actor = createActor(real, {
          input: start?.input,
          clock: new SimulatedClock(),
          inspect: recorded.inspect,
        } as never).start();
        recorded.take();
        let at = start?.state ?? 0;
        for (const choice of choices) {
          const edges = edgesFrom[at] ?? [];
          const edge = edges[choice % Math.max(1, edges.length)];
          if (edge === undefined) break;
          actor.send(edge.occurrence.event);
          const snapshot = actor.getSnapshot() as AnyMachineSnapshot;
          at = edge.to;
          expect(snapshot.value).toEqual(states[at]?.value);
          expect(snapshot.context).toEqual(states[at]?.snapshot.context);
          expect(snapshot.status).toBe(states[at]?.snapshot.status);
          expect(recorded.take()).toEqual(edge.taken);
        }
        actor.stop();
      }),
      { numRuns: sampleSize('explored machines', 40, 1000) },
    );
  });

  it.each(cover(exploration).map((path) => [path.name, path] as const))(
    'runs the path on a real actor: %s',
    (_, path) => {
      runPath(exploration, path);
    },
  );

  it('is covered edge by edge by shortest paths', () => {
    const paths = cover(exploration, { each: 'edge' });
    const walked = new Set(paths.flatMap(({ edges }) => edges.map(({ id }) => id)));
    expect(walked.size).toBe(exploration.edges.length);
    for (const { edges } of paths) {
      const last = edges.at(-1);
      expect(edges.length).toBe((exploration.states[last?.from ?? 0]?.depth ?? 0) + (last === undefined ? 0 : 1));
      edges.forEach(({ from }, index) => {
        if (index > 0) expect(from).toBe(edges[index - 1]?.to);
      });
    }
    for (const path of paths) runPath(exploration, path);
  });
});

describe('explore', () => {
  it('distinguishes states by their history', () => {
    const machine = createMachine({
      id: 'radio',
      initial: 'on',
      states: {
        on: {
          initial: 'low',
          states: { low: { on: { next: 'high' } }, high: { on: { boom: '#radio.burnt' } }, last: { type: 'history' } },
          on: { pause: 'off' },
        },
        off: { on: { resume: 'on.last' } },
        burnt: {},
      },
    });
    const events = ['next', 'boom', 'pause', 'resume'].map((type) => ({ type }));
    const { states, edges } = explore(machine, { outcomes: {}, events });
    const resumed = edges.filter(({ occurrence, taken }) => occurrence.name === 'resume' && taken.length > 0);
    expect(resumed.map(({ to }) => states[to]?.value)).toEqual([{ on: 'low' }, { on: 'high' }]);
  });

  it('counts the ancestors of transient states as entered', () => {
    const machine = createMachine({
      id: 'gate',
      initial: 'outer',
      states: {
        outer: { initial: 'inner', states: { inner: { always: '#gate.next' } } },
        next: { on: { go: '#gate.last.first' } },
        last: { initial: 'first', states: { first: { always: '#gate.over' } } },
        over: { type: 'final' },
      },
    });
    const exploration = explore(machine, { outcomes: {}, events: [{ type: 'go' }] });
    expect(noUnreachableState().check(exploration)).toBeNull();
  });
});
