import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createMachine } from 'xstate';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { type ExploreOptions, explore } from '../../../../src/testing/exploration/explore.ts';
import { cover, reachedItems } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { noUnreachableState } from '../../../../src/testing/properties/properties.ts';
import { coverageItems } from '../../../../src/testing/structure/coverage-items.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';

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
