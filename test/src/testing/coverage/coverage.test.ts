import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnyStateMachine, createActor, createMachine, SimulatedClock } from 'xstate';
import { coverageOf } from '../../../../inspector/fold/coverage.ts';
import { machinesByName } from '../../../../src/engine/charts/machines.ts';
import { collectCoverage, type MachineCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { coverageText } from '../../../../src/testing/coverage/coverage-text.ts';
import { inPercent, percentOf } from '../../../../src/testing/coverage/kinds.ts';
import { missedThresholds, type Thresholds } from '../../../../src/testing/coverage/thresholds.ts';
import { chartCoverage, mergedCoverage } from '../../../../src/testing/coverage/vitest-reporter.ts';
import { applyEvent } from '../../../../src/testing/exploration/apply-event.ts';
import type { Exploration } from '../../../../src/testing/exploration/exploration.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done } from '../../../../src/testing/exploration/outcome.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { withStubActors } from '../../../../src/testing/exploration/stub-actors.ts';
import { runCharts } from '../../../inspector/rig/file-page.ts';
import { folded } from '../../../inspector/rig/folded.ts';
import { aRandomRun, playRandomRun } from '../../../support/random-runs.ts';
import { foreign } from '../machines/all.ts';

const machines = Object.values(machinesByName);

const covered = (all: readonly MachineCoverage[], kind?: string): readonly string[] =>
  all.flatMap(({ machine, items }) =>
    items
      .filter((item) => item.times > 0 && (kind === undefined || item.kind === kind))
      .map(({ key }) => `${machine} ${key}`),
  );

describe('coverage', () => {
  it('of journals is what the inspector’s own fold of them makes of the transitions', async () => {
    const all = collectCoverage(machines);
    await fc.assert(
      fc.asyncProperty(aRandomRun, async (random) => {
        const { run } = await playRandomRun(random, {}, () => {});
        const one = collectCoverage(machines);
        one.addJournal(run.journal);
        all.addJournal(run.journal);
        const fold = coverageOf(runCharts.charts, [
          { transitions: folded(run.journal).fold.transitions, until: Number.POSITIVE_INFINITY },
        ]);
        const expected = Object.entries(fold.taken).flatMap(([machine, places]) =>
          [...places].map((place) => `${machine} transition ${place}`),
        );
        expect([...covered(one.coverage(), 'transition')].sort()).toEqual(expected.sort());
        expect(covered(all.coverage())).toEqual(expect.arrayContaining([...covered(one.coverage())]));
      }),
      { numRuns: 15 },
    );
    // A state that was left has been entered, and a guard that was passed by has said no.
    const keys = covered(all.coverage());
    expect(keys).toContain('postChain state postChain.cycling.yield.deciding');
    expect(keys.some((key) => /guard \d+ false$/u.test(key))).toBe(true);
  });

  describe.each(Object.entries(foreign))('of watched actors of %s', (_, { machine, ...options }) => {
    const exploration = explore<AnyStateMachine>(machine, options as never) as Exploration;

    it('is what the exploration says of their paths, to the last guard', () => {
      for (const path of cover(exploration, { each: 'edge' })) {
        const collector = collectCoverage([machine]);
        const actor = createActor(withStubActors(machine), {
          clock: new SimulatedClock(),
          inspect: collector.inspect,
          input: path.beginning.input,
        }).start();
        for (const { occurrence } of path.edges) actor.send(occurrence.event as never);
        actor.stop();
        const steps = [path.beginning, ...path.edges];
        const taken = steps.flatMap((step) => step.taken.map((place) => `${machine.id} transition ${place}`));
        const said = steps.flatMap(({ verdicts }) =>
          verdicts.map(({ place, holds }) => `${machine.id} guard ${place} ${holds}`),
        );
        expect(new Set(covered(collector.coverage(), 'transition')), path.name).toEqual(new Set(taken));
        expect(new Set(covered(collector.coverage(), 'guard')), path.name).toEqual(new Set(said));
      }
    });
  });

  it('is told as a table, with what is missing; of an exploration too', () => {
    const { machine, outcomes, events } = foreign.checkout;
    const collector = collectCoverage([machine]);
    expect(percentOf(collector.coverage()[0] as MachineCoverage, 'state')).toBe(0);
    collector.addExploration(explore(machine, { outcomes, events }));
    const text = coverageText(collector.coverage());
    expect(text.split('\n').slice(0, 2)).toEqual([
      'machine    states  transitions  guards  outcomes   delays     all',
      'checkout  100.0 %      100.0 %  83.3 %   100.0 %  100.0 %  96.4 %',
    ]);
    expect(text).toContain('checkout, never:\n  guard       shipping, done, [stateIn] → over: false\n');
  });

  it('of several collections is added up, and held against thresholds of a kind, never rounded up to all', () => {
    const { machine, outcomes, events } = foreign.checkout;
    const [nothing, some] = [collectCoverage([machine]), collectCoverage([machine])];
    some.addExploration(explore(machine, { outcomes, events }));
    const [one] = mergedCoverage([...nothing.coverage(), ...some.coverage(), ...some.coverage()]);
    const times = new Map(one?.items.map((item) => [item.key, item.times]));
    expect(times.get('transition 0')).toBe(2);
    expect(missedThresholds([one as MachineCoverage], { transitions: 100, guards: 83.3, all: 97 })).toEqual([
      'checkout: 96.4 % of all, wanted 97 %',
    ]);
    expect(inPercent(99.99)).toBe('99.9 %');
    expect(inPercent(100)).toBe('100.0 %');
  });

  it('has the end of an actor, and a delay, that a wildcard took', () => {
    const machine = createMachine({
      id: 'catcher',
      invoke: { id: 'caught', src: 'work', onDone: { guard: () => false } },
      after: { 10: { guard: () => false } },
      on: { '*': { actions: [] } },
    });
    const exploration = explore(machine, { outcomes: { work: [done()] } });
    const collector = collectCoverage([machine]);
    const actor = createActor(withStubActors(machine), { clock: new SimulatedClock(), inspect: collector.inspect });
    actor.start();
    for (const { occurrence } of exploration.edges) applyEvent(actor, occurrence);
    expect(covered(collector.coverage(), 'outcome')).toEqual(['catcher outcome caught done']);
    expect(covered(collector.coverage(), 'delay')).toEqual(['catcher delay xstate.after.10.catcher']);
  });

  it.each([
    [{ guard: 80 }, 'thresholds: got "guard"; wanted any of states, transitions, guards, outcomes, delays, all.'],
    [{ all: Number.NaN }, 'thresholds.all: got NaN; wanted per cent, 0 to 100.'],
    [{ all: -1 }, 'thresholds.all: got -1; wanted per cent, 0 to 100.'],
    [{ states: '80' }, 'thresholds.states: got 80; wanted per cent, 0 to 100.'],
  ])('is not held against the threshold %o, by nobody', (thresholds, message) => {
    expect(() => missedThresholds([], thresholds as Thresholds)).toThrow(message);
    expect(() => chartCoverage({ thresholds: thresholds as Thresholds })).toThrow(message);
  });
});
