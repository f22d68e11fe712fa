import { beforeAll, expect, it } from 'vitest';
import type { RunFold } from '../../../inspector/fold/run-fold.ts';
import { phaseVisit } from '../../../inspector/fold/state-visit.ts';
import { failingRun, folded, readmeRun } from '../../support/inspector/inspected-runs.ts';

let runs: readonly { readonly fold: RunFold; readonly count: number }[] = [];
beforeAll(async () => {
  const { run } = readmeRun();
  await run.answer;
  const journals = [run.entries, (await failingRun()).entries];
  runs = journals.map((journal) => ({ fold: folded(journal).fold, count: journal.length }));
});

it('selects the latest visit of a phase with a call, not a later empty one', () => {
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
