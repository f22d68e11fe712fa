import { describe, expect, it } from 'vitest';
import { phaseMapOf, phaseVisit } from '../../../inspector/fold/phase-map.ts';
import { folded, readmeRun } from '../../support/inspector/inspected-runs.ts';

describe('the map of the phases', () => {
  it('follows the selected step, and counts each model call in the phase that it is for', async () => {
    const { run } = readmeRun();
    await run.answer;
    const { fold } = folded(run.journal);
    const { spans } = fold;
    for (const { from, phase, cycle } of spans.phases) {
      const map = phaseMapOf(fold, { from });
      expect(map).toMatchObject({ current: phase, cycle });
      expect(map.path.at(-1)).toBe(phase);
    }
    const end = phaseMapOf(fold, { from: run.journal.length - 1 });
    expect(end.current).toBe('answer');
    const ofPhases = spans.attempts.filter(({ task }) => task !== 'synthesis');
    expect(end.phases.reduce((sum, { calls }) => sum + calls, 0)).toBe(ofPhases.length);
    for (const { phase, calls, visits } of end.phases) {
      expect(calls, phase).toBe(ofPhases.filter((attempt) => attempt.phase === phase).length);
      expect(visits, phase).toBe(spans.phases.filter((span) => span.phase === phase).length);
    }
  });

  it('selects the latest visit with a call, not a later empty one', async () => {
    const { run } = readmeRun();
    await run.answer;
    const { fold } = folded(run.journal);
    const { phases, calls } = fold.spans;
    const last = run.journal.length - 1;
    for (const phase of new Set(phases.map((span) => span.phase))) {
      const visits = phases.filter((span) => span.phase === phase);
      const isBusy = ({ from, to }: (typeof visits)[number]) =>
        calls.some((call) => call.from >= from && call.from <= (to ?? last));
      const expected = visits.findLast(isBusy) ?? visits.at(-1);
      expect(phaseVisit(fold, phase, last, last + 1)).toMatchObject({ from: expected?.from, to: expected?.to });
    }
    expect(phaseVisit(fold, 'yield', 0, last + 1)?.from).toBe(phases.find(({ phase }) => phase === 'yield')?.from);
  });
});
