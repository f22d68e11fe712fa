import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { type CoverageCollector, collectCoverage } from '../../../../src/testing/coverage/coverage.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { cover } from '../../../../src/testing/exploration/paths.ts';
import { runPath } from '../../../../src/testing/exploration/run-path.ts';
import { startWalk, walkStep } from '../../../../src/testing/exploration/walk.ts';
import { caughtError } from '../../../support/errors.ts';
import { xstatePatterns } from '../../../support/example-machines.ts';

const steps = { maxCommands: 60, size: 'max' } as const;

it.each(Object.keys(chainChart.inputs))('a random walk of the chain keeps its invariants: %s', (input) => {
  const { machine, outcomes, events, inputs } = chainChart;
  fc.assert(
    fc.property(fc.commands([fc.nat(1_000).map(walkStep)], steps), (commands) => {
      const invariants = {
        'cycles are bounded': ({
          context: { recursion, limits },
        }: {
          context: { recursion: { completedCycles: number }; limits: { maxCycles: number } };
        }) => recursion.completedCycles <= limits.maxCycles,
        'an answer is never empty': ({ status, output }: { status: string; output?: { answerText: string } }) =>
          status !== 'done' || output?.answerText.trim() !== '',
      };
      const real = startWalk(machine, { outcomes, events, inputs, invariants, input } as never);
      fc.modelRun(() => ({ model: {}, real }), commands);
      expect(['active', 'done']).toContain(real.snapshot.status);
      real.stop();
    }),
    { numRuns: 12 },
  );
});

it('fast-check shrinks to the shortest walk that breaks an invariant', () => {
  const { machine, outcomes, events } = xstatePatterns.checkout;
  const invariants = { 'nothing is paid': ({ value }: { readonly value: unknown }) => value !== 'paying' };
  const found = fc.check(
    fc.property(fc.commands([fc.nat(20).map(walkStep)], steps), (commands) => {
      const real = startWalk(machine, { outcomes, events, invariants });
      fc.modelRun(() => ({ model: {}, real }), commands);
    }),
    { numRuns: 200 },
  );
  expect(found.failed).toBe(true);
  expect(String(found.errorInstance)).toMatch(
    /Invariant "nothing is paid" is broken in "paying", after start → item\.added .* → checkout\.started$/u,
  );
});

it('takes only possible steps: an actor that has ended or was stopped sends nothing', () => {
  const { machine, outcomes, events } = xstatePatterns.profile;
  const walk = startWalk(machine, { outcomes, events });
  for (const choice of [0, 3, 0, 0]) walk.step(choice);
  expect(walk.names).toEqual(['load: done', 'mute', 'reload', 'load: done']);
  walk.stop();
});

it('walks and paths can be inspected for coverage', () => {
  const { machine, outcomes, events } = xstatePatterns.checkout;
  const transitions = (go: (inspect: CoverageCollector['inspect']) => void): number => {
    const collector = collectCoverage([machine]);
    go(collector.inspect);
    const items = collector.coverage().flatMap((one) => one.items);
    return items.filter(({ kind, times }) => kind === 'transition' && times > 0).length;
  };
  const exploration = explore(machine, { outcomes, events });
  const all = exploration.chart.transitions.length;
  const ofPaths = transitions((inspect) => {
    for (const path of cover(exploration)) runPath(exploration, path, { inspect });
  });
  expect(ofPaths).toBe(all);
  const ofOneStep = transitions((inspect) => startWalk(machine, { outcomes, events, inspect }).step(0));
  expect(ofOneStep).toBe(1);
});

it('throws if the machine throws at the start, or for an unknown input', () => {
  const { machine, outcomes, events, inputs } = xstatePatterns.fetching;
  expect(caughtError(() => startWalk(machine, { outcomes, events }))).toEqual({
    code: 'path_failed',
    message:
      "fetching threw at the start, without an input: Cannot read properties of undefined (reading 'maxRetries')",
  });
  expect(caughtError(() => startWalk(machine, { outcomes, events, inputs, input: 'thrice' }))).toEqual({
    code: 'invalid_option',
    message: '"input" must be a key of "inputs" (never, twice); received "thrice"',
  });
});
