import { beforeAll, describe, expect, it } from 'vitest';
import { badgesOf } from '../../../inspector/fold/badges.ts';
import { PHASE_NAMES } from '../../../inspector/fold/format.ts';
import { phaseMapOf, phaseVisit } from '../../../inspector/fold/phase-map.ts';
import type { RunFold } from '../../../inspector/fold/run-fold.ts';
import { failingRun, folded, ownCharts, readmeRun } from '../../support/inspector/inspected-runs.ts';

let runs: readonly { readonly fold: RunFold; readonly count: number }[] = [];
beforeAll(async () => {
  const { run } = readmeRun();
  await run.answer;
  const journals = [run.entries, (await failingRun()).entries];
  runs = journals.map((journal) => ({ fold: folded(journal).fold, count: journal.length }));
});

describe('the map of the phases', () => {
  it('follows the selected step', () => {
    for (const { fold, count } of runs) {
      for (const { from, phase } of fold.spans.phases) {
        const map = phaseMapOf(fold, { from });
        expect(map.current).toBe(phase);
        expect(map.path.at(-1)).toBe(phase);
        const before = fold.spans.phases.findLast((span) => span.from < from)?.phase;
        if (before !== undefined) expect(map.path.at(-2)).toBe(before);
      }
      expect(phaseMapOf(fold, { from: count - 1 }).current).toBe('answer');
    }
  });

  it('counts each model call once, in the phase that it is for, as the chart does', () => {
    for (const { fold } of runs) {
      const { attempts, phases: spans } = fold.spans;
      const { phases, answerCalls } = phaseMapOf(fold, { from: 0 });
      const badges = badgesOf(fold, ownCharts);
      for (const { phase, calls } of phases) {
        const steps = new Set(spans.flatMap((span) => (span.phase === phase ? [`s${span.step}`] : [])));
        const own = attempts.filter(
          ({ task, attemptId }) => task !== 'synthesis' && steps.has(attemptId.split('.')[0] ?? ''),
        );
        expect(calls, phase).toBe(own.length);
        expect(badges['postChain']?.get(phase)?.text || '0 calls', phase).toMatch(
          new RegExp(`^(\\d+ of )?${calls} call`, 'u'),
        );
      }
      expect(answerCalls).toBe(attempts.filter(({ task }) => task === 'synthesis').length);
      expect(phases.reduce((sum, { calls }) => sum + calls, answerCalls)).toBe(attempts.length);
      const failed = spans.filter(({ failure }) => failure !== null).length;
      expect(phases.reduce((sum, { failures }) => sum + failures, 0)).toBe(failed);
      const marked = phases.flatMap(({ phase, hasFailed }) => (hasFailed ? phase : []));
      expect(marked).toEqual(PHASE_NAMES.filter((phase) => badges['postChain']?.get(phase)?.hasFailed));
    }
  });

  it('follows a selected call to its own phase, which may not have begun', () => {
    for (const { fold } of runs)
      for (const { attemptId, task, from } of fold.spans.attempts) {
        const own = fold.spans.phases.find(({ step }) => attemptId.startsWith(`s${step}.`));
        const expected = task === 'synthesis' ? 'answer' : own?.phase;
        expect(phaseMapOf(fold, { kind: 'attempt', from }).current).toBe(expected);
      }
  });

  it('selects the latest visit with a call, not a later empty one', () => {
    for (const { fold, count } of runs) {
      const { phases, calls } = fold.spans;
      for (const phase of new Set(phases.map((span) => span.phase))) {
        const visits = phases.filter((span) => span.phase === phase);
        const isBusy = ({ from, to }: (typeof visits)[number]) =>
          calls.some((call) => call.from >= from && call.from <= (to ?? count - 1));
        const expected = visits.findLast(isBusy) ?? visits.at(-1);
        expect(phaseVisit(fold, phase, count - 1, count)).toMatchObject({ from: expected?.from });
      }
      const first = phases.find(({ phase }) => phase === 'yield');
      expect(phaseVisit(fold, 'yield', 0, count)?.from).toBe(first?.from);
    }
  });
});
