import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chainChart } from '../../../../src/testing/charts/chain-chart.ts';
import { startWalk, walkStep } from '../../../../src/testing/exploration/walk.ts';
import { foreign } from '../machines/all.ts';

const steps = { maxCommands: 60, size: 'max' } as const;

it.each(Object.keys(chainChart.inputs))('walks the chain at random, and never breaks what must hold: %s', (input) => {
  const { machine, outcomes, events, inputs, actors } = chainChart;
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
      const real = startWalk(machine, { outcomes, events, inputs, actors, invariants, input } as never);
      fc.modelRun(() => ({ model: {}, real }), commands);
      expect(['active', 'done']).toContain(real.snapshot.status);
      real.stop();
    }),
    { numRuns: 12 },
  );
});

it('shrinks to the shortest walk that breaks something, and tells it', () => {
  const { machine, outcomes, events } = foreign.checkout;
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
    /The invariant "nothing is paid" does not hold in "paying", after its beginning → item\.added .* → checkout\.started\.$/u,
  );
});

it('takes only steps that can be: an actor that has ended, or was stopped, says nothing more', () => {
  const { machine, outcomes, events } = foreign.profile;
  const walk = startWalk(machine, { outcomes, events });
  for (const choice of [0, 3, 0, 0]) walk.step(choice);
  expect(walk.names).toEqual(['load: done', 'mute', 'reload', 'load: done']);
  walk.stop();
});
