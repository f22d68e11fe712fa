import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine, SimulatedClock } from 'xstate';
import { machinesByName } from '../../../../src/chain/machines.ts';
import { collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import {
  type CoverageThresholds,
  coverageText,
  formatPercent,
  type MachineCoverage,
  missedThresholds,
  percentOf,
  withUniqueNames,
} from '../../../../src/testing/coverage/coverage-report.ts';
import { chartCoverage, mergedCoverage } from '../../../../src/testing/coverage/vitest-reporter.ts';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/occurrences.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { createStubbedActor, withStubActors } from '../../../../src/testing/exploration/stub-actors.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';
import { startScripted } from '../../../support/run-chain.ts';

const machines = Object.values(machinesByName);

const covered = (all: readonly MachineCoverage[], kind?: string): readonly string[] =>
  all.flatMap(({ machine, items }) =>
    items
      .filter((item) => item.times > 0 && (kind === undefined || item.kind === kind))
      .map(({ key }) => `${machine} ${key}`),
  );

describe('coverage', () => {
  it('of journals counts each recorded transition, and the guards before it as false', async () => {
    const { run } = startScripted();
    await run.answer;
    const collector = collectCoverage(machines);
    collector.addJournal(run.entries);
    const counted = (id: string, kind: string): readonly string[] =>
      (collector.coverage().find(({ machine }) => machine === id)?.items ?? [])
        .filter((item) => item.kind === kind && item.times > 0)
        .map(({ name, times }) => `${times} × ${name}`);
    expect(counted('attempt', 'guard')).toEqual([
      '7 × calling, reply.ended, [replyIsBroken] → recordingFailure: false',
      '7 × calling, reply.ended, [replyIsUnvalidated] → validating: false',
      '7 × calling, reply.ended, [replyIsValid] → succeeded: true',
    ]);
    expect(counted('postChain', 'transition').filter((text) => text.startsWith('1 × '))).toHaveLength(23);
    expect(counted('postChain', 'state')).toContain('1 × postChain.cycling.yield.deciding');
  });

  describe.each(Object.entries(xstatePatterns))('of inspected actors: %s', (_, { machine, ...options }) => {
    const exploration = explore<AnyStateMachine>(machine, options as never) as Exploration;

    it('counts exactly the transitions and guard results of the explored paths', () => {
      for (const path of cover(exploration, { each: 'edge' })) {
        const collector = collectCoverage([machine]);
        const actor = createActor(withStubActors(machine), {
          clock: new SimulatedClock(),
          inspect: collector.inspect,
          input: path.start.input,
        }).start();
        for (const { occurrence } of path.edges) actor.send(occurrence.event as never);
        actor.stop();
        const steps = [path.start, ...path.edges];
        const taken = steps.flatMap((step) => step.taken.map((index) => `${machine.id} transition ${index}`));
        const results = steps.flatMap(({ guards }) =>
          guards.map(({ transition, holds }) => `${machine.id} guard ${transition} ${holds}`),
        );
        expect(new Set(covered(collector.coverage(), 'transition')), path.name).toEqual(new Set(taken));
        expect(new Set(covered(collector.coverage(), 'guard')), path.name).toEqual(new Set(results));
      }
    });
  });

  it('prints a table and the items not reached, also for an exploration', () => {
    const { machine, outcomes, events } = xstatePatterns.checkout;
    const collector = collectCoverage([machine]);
    expect(percentOf(collector.coverage()[0] as MachineCoverage, 'state')).toBe(0);
    collector.addExploration(explore(machine, { outcomes, events }));
    const text = coverageText(collector.coverage());
    expect(text.split('\n').slice(0, 2)).toEqual([
      'machine   states  transitions  guards  outcomes  delays    all',
      'checkout  100.0%       100.0%   83.3%    100.0%  100.0%  96.4%',
    ]);
    expect(text).toContain('checkout, not reached:\n  guard       shipping, done, [stateIn] → over: false\n');
  });

  it('of several collections is added up; thresholds apply per kind, and percentages are never rounded up', () => {
    const { machine, outcomes, events } = xstatePatterns.checkout;
    const [nothing, some] = [collectCoverage([machine]), collectCoverage([machine])];
    some.addExploration(explore(machine, { outcomes, events }));
    const [one] = mergedCoverage([...nothing.coverage(), ...some.coverage(), ...some.coverage()]);
    const times = new Map(one?.items.map((item) => [item.key, item.times]));
    expect(times.get('transition 0')).toBe(2);
    expect(missedThresholds([one as MachineCoverage], { transitions: 100, guards: 83.3, all: 97 })).toEqual([
      'checkout: 96.4% of all, below 97%',
    ]);
    expect(formatPercent(99.99)).toBe('99.9%');
    expect(formatPercent(100)).toBe('100.0%');
  });

  it('counts an actor outcome and a delay that a wildcard or a root transition takes', () => {
    const machine = createMachine({
      id: 'catcher',
      invoke: { id: 'caught', src: 'work', onDone: { guard: () => false } },
      after: { 10: { guard: () => false } },
      on: { '*': { actions: [] } },
    });
    const exploration = explore(machine, { outcomes: { work: [done()] } });
    const collector = collectCoverage([machine]);
    const { inspect } = collector;
    const actor = createStubbedActor(withStubActors(machine), { original: machine, input: undefined, inspect });
    actor.ref.start();
    for (const { occurrence } of exploration.edges) actor.apply(occurrence);
    expect(covered(collector.coverage(), 'outcome')).toEqual(['catcher outcome caught done']);
    expect(covered(collector.coverage(), 'delay')).toEqual(['catcher delay xstate.after.10.catcher']);
  });

  it('gives machines without an id, or with one id in common, names of their own', () => {
    const light = createMachine({ initial: 'red', states: { red: {}, green: {} } });
    const [one, other] = [
      createMachine({ id: 'm', initial: 'a', states: { a: {} } }),
      createMachine({ id: 'm', initial: 'b', states: { b: {} } }),
    ];
    const collector = collectCoverage([one, other, light, one]);
    createActor(other, { inspect: collector.inspect }).start();
    const named = withUniqueNames(collector.coverage());
    expect(named.map(({ machine }) => machine)).toEqual(['m', 'm (2)', '(machine) red, green']);
    expect(covered(named)).toEqual(['m (2) state m', 'm (2) state m.b']);
  });

  it.each([
    [{ guard: 80 }, '"thresholds" keys must be states, transitions, guards, outcomes, delays, all; received "guard"'],
    [{ all: Number.NaN }, '"thresholds.all" must be a percentage from 0 to 100; received NaN'],
    [{ all: -1 }, '"thresholds.all" must be a percentage from 0 to 100; received -1'],
    [{ states: '80' }, '"thresholds.states" must be a percentage from 0 to 100; received 80'],
  ])('rejects the threshold %o, also in the reporter', (thresholds, message) => {
    expect(() => missedThresholds([], thresholds as CoverageThresholds)).toThrow(message);
    expect(() => chartCoverage({ thresholds: thresholds as CoverageThresholds })).toThrow(message);
  });
});
