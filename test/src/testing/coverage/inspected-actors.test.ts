import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine } from 'xstate';
import { nodesOf } from '../../../../src/durable/charts/chart-nodes.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import type { MachineCoverage } from '../../../../src/testing/coverage/coverage-report.ts';
import { mergedCoverage, reportCoverage } from '../../../../src/testing/coverage/vitest-reporter.ts';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { createStubbedActor, withStubActors } from '../../../../src/testing/exploration/stub-actors.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';

/** Returns a copy of the machine, and how often each of its states has been entered. */
function countedEntries(machine: AnyStateMachine): readonly [AnyStateMachine, Readonly<Record<string, number>>] {
  const copy = machine.provide({});
  const entries: Record<string, number> = {};
  for (const node of nodesOf(copy)) {
    entries[node.id] = 0;
    node.entry.unshift(() => {
      entries[node.id] = (entries[node.id] ?? 0) + 1;
    });
  }
  return [copy, entries];
}

const timesOf = (all: readonly MachineCoverage[], kind: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    all.flatMap(({ items }) => items.filter((item) => item.kind === kind).map(({ name, times }) => [name, times])),
  );

const conflict = createMachine({
  id: 'conflict',
  initial: 'p',
  states: {
    p: {
      type: 'parallel',
      states: {
        a: { initial: 'x', states: { x: { on: { go: 'y' } }, y: {} } },
        b: { initial: 'x', states: { x: { on: { go: '#over' } } } },
        c: {
          initial: 'x',
          on: { again: { target: '.x' }, restart: { target: '.x', reenter: true }, out: '#over' },
          states: { x: { initial: 'deep', states: { deep: {} } } },
        },
      },
    },
    over: { id: 'over', on: { back: { target: '#conflict.p.a.y' } } },
  },
});

const machines = {
  ...xstatePatterns,
  conflict: {
    machine: conflict,
    outcomes: {},
    events: ['go', 'again', 'restart', 'out', 'back'].map((type) => ({ type })),
  },
};

describe('coverage of inspected actors', () => {
  it.each(Object.entries(machines))('%s: counts each state as often as its entry actions run', (_, given) => {
    const { machine, ...options } = given;
    const exploration = explore<AnyStateMachine>(machine, options as never) as Exploration;
    for (const path of cover(exploration, { each: 'edge' })) {
      const [counted, entries] = countedEntries(withStubActors(machine));
      const collector = collectCoverage([machine]);
      const { inspect } = collector;
      const actor = createStubbedActor(counted, { original: machine, input: path.start.input, inspect });
      actor.ref.start();
      for (const { occurrence } of path.edges) actor.apply(occurrence);
      actor.ref.stop();
      expect(timesOf(collector.coverage(), 'state'), path.name).toEqual(entries);
    }
  });

  it('counts nothing if no actor ran', () => {
    const times = Object.values(timesOf(collectCoverage([conflict]).coverage(), 'state'));
    expect(times.every((one) => one === 0)).toBe(true);
  });

  it('counts the active states of an actor restored from a snapshot', () => {
    const { machine } = xstatePatterns.checkout;
    const first = createActor(withStubActors(machine)).start();
    first.send({ type: 'item.added', price: 10 });
    first.send({ type: 'checkout.started' });
    const collector = collectCoverage([machine]);
    const { inspect } = collector;
    createActor(withStubActors(machine), { snapshot: first.getPersistedSnapshot(), inspect } as never).start();
    const entered = Object.entries(timesOf(collector.coverage(), 'state')).filter(([, times]) => times > 0);
    expect(entered.map(([name]) => name)).toEqual(['checkout', 'paying']);
  });

  it('counts only the transition taken, of several in conflict', () => {
    const collector = collectCoverage([conflict]);
    createActor(conflict, { inspect: collector.inspect }).start().send({ type: 'go' });
    const taken = Object.entries(timesOf(collector.coverage(), 'transition')).filter(([, times]) => times > 0);
    expect(taken).toEqual([['p.a.x, go → p.a.y', 1]]);
  });

  it('ignores a transition of another machine with the same id, which the given one does not have', () => {
    const given = createMachine({ id: 'same', initial: 'a', states: { a: { on: { GO: 'b' } }, b: {} } });
    const other = createMachine({ id: 'same', initial: 'a', states: { a: { on: { LEAVE: 'b' } }, b: {} } });
    const collector = collectCoverage([given]);
    createActor(other, { inspect: collector.inspect }).start().send({ type: 'LEAVE' });
    expect(Object.values(timesOf(collector.coverage(), 'transition'))).toEqual([0]);
  });

  it('is reported once if several suites share a collector', () => {
    const { machine } = xstatePatterns.checkout;
    const collector = collectCoverage([machine]);
    const suite: { meta: { postchainCoverage?: readonly MachineCoverage[] } } = { meta: {} };
    createActor(withStubActors(machine), { inspect: collector.inspect }).start();
    for (let times = 0; times < 2; times += 1) reportCoverage(collector)({}, suite);
    expect(mergedCoverage(suite.meta.postchainCoverage ?? [])).toEqual(collector.coverage());
  });
});
