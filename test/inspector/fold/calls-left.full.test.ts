import fc from 'fast-check';
import { expect, it } from 'vitest';
import { callsLeftAt } from '../../../inspector/fold/budget-at.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { folded } from '../../support/inspector/inspected-runs.ts';
import { fullChain, fullRunArbitrary, fullRunOptions, runUntilEnded } from '../../support/random-runs.ts';
import { scriptedChain, settle } from '../../support/run-chain.ts';
import { sampleSize } from '../../support/soak.ts';

it('from every entry of a random run, at most as many model calls follow as the page says, and sometimes exactly as many', async () => {
  const isExact = { phases: false, answer: false };
  await fc.assert(
    fc.asyncProperty(fullRunArbitrary, async (full) => {
      const { chain, clock } = fullChain(full);
      const run = chain.run(fullRunOptions(full));
      await runUntilEnded(run, clock, full.random.words);
      const entries: readonly JournalEntry[] = JSON.parse(JSON.stringify(run.journal));
      const { log, fold } = folded(entries);
      const following = { phases: 0, answer: 0 };
      for (const entry of entries.toReversed()) {
        const bound = callsLeftAt(log, fold, entry.seq) ?? { phases: -1, answer: -1 };
        for (const kind of ['phases', 'answer'] as const) {
          expect(following[kind], `${kind} after entry ${entry.seq}`).toBeLessThanOrEqual(bound[kind]);
          isExact[kind] ||= following[kind] > 0 && following[kind] === bound[kind];
        }
        if (entry.type === 'attempt-start') following[entry.task === 'synthesis' ? 'answer' : 'phases'] += 1;
      }
    }),
    { numRuns: sampleSize('runs with calls left', 100, 500) },
  );
  expect(isExact).toEqual({ phases: true, answer: true });
});

it('counts the calls of an answer in progress by the reserve with which it began', async () => {
  const { chain, clock } = scriptedChain({ synthesis: () => ({ failure: { code: 'server_error', status: 503 } }) }, {});
  const run = chain.run({ request: 'Is it so?' });
  let adjustedAt = -1;
  for (let step = 0; run.actor.getSnapshot().status === 'active' && step < 3_000; step += 1) {
    const before = run.journal.length;
    await settle(1);
    if (adjustedAt < 0 && run.journal.some((entry) => entry.type === 'attempt-end' && entry.task === 'synthesis')) {
      adjustedAt = run.journal.length;
      run.send({ type: 'run.adjusted', limits: { synthesisReserveTokens: 0 }, thresholds: {} });
    }
    if (run.journal.length === before) clock.increment(500);
  }
  const { log, fold } = folded(run.journal);
  const later = run.journal.filter((entry) => entry.type === 'attempt-start' && entry.seq > adjustedAt);
  expect(later.length).toBeGreaterThan(0);
  expect(callsLeftAt(log, fold, adjustedAt)?.answer).toBeGreaterThanOrEqual(later.length);
});
