import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LAST_EVENTS } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { killedAfter } from '../../../support/journal-files.ts';
import {
  type FullRun,
  fullChain,
  fullRunArbitrary,
  fullRunOptions,
  runUntilEnded,
} from '../../../support/random-runs.ts';
import { sampleSize } from '../../../support/soak.ts';

const aShare = fc.double({ min: 0, max: 1, noNaN: true });
const changes = fc.constantFrom({}, { 'thresholds.confidence': 0.2 }, { 'limits.maxCycles': 1 }, { phase: 'yield' });

const readBack = (journal: readonly JournalEntry[]): JournalEntry[] => JSON.parse(JSON.stringify(journal));

async function play(full: FullRun, ids = ['run']) {
  const names = ids.values();
  const chain = fullChain(full, { journals: memoryJournals(), newId: () => names.next().value ?? '' });
  const run = chain.chain.run(fullRunOptions(full));
  await runUntilEnded(run, chain.clock, full.random.words);
  await run.answer;
  return { ...chain, run };
}

/** Resumes a run from the entries written before its process was killed. */
async function resumed(full: FullRun, runId: string, recorded: readonly JournalEntry[]) {
  const { chain, clock } = fullChain(full, { journals: killedAfter(recorded, runId) });
  const run = await chain.resume(runId);
  await runUntilEnded(run, clock, full.random.words);
  expect((await run.answer).answerText.trim()).not.toBe('');
  expect(clock.openTimers).toBe(0);
  return run.entries;
}

const upTo = (share: number, journal: readonly JournalEntry[]): readonly JournalEntry[] =>
  journal.slice(0, 1 + Math.floor(share * (journal.length - 1)));

const endedCalls = (journal: readonly JournalEntry[]): readonly number[] =>
  journal.flatMap((entry) =>
    entry.type === 'activity-event' && LAST_EVENTS.has(entry.event.type) && entry.event.type !== 'reply.lost'
      ? [entry.activity]
      : [],
  );

it('[promise 6] a run that uses every feature replays identically, however often it is killed and resumed', async () => {
  await fc.assert(
    fc.asyncProperty(fullRunArbitrary, fc.array(aShare, { maxLength: 3 }), async (full, kills) => {
      let { entries: journal } = (await play(full)).run;
      for (const kill of kills) {
        const recorded = upTo(kill, journal);
        journal = await resumed(full, 'run', recorded);
        expect(readBack(journal.slice(0, recorded.length))).toEqual(readBack(recorded));
        const ended = endedCalls(journal);
        expect(new Set(ended).size).toBe(ended.length);
      }
      const replayed = replay(readBack(journal));
      expect(replayed.divergence).toBeNull();
    }),
    { numRuns: sampleSize('full runs', 15, 300) },
  );
});

it('[promise 6] a fork of a fork replays identically, and can be killed and resumed', async () => {
  const forks = fc.array(fc.record({ share: aShare, set: changes }), { minLength: 1, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fullRunArbitrary, forks, aShare, async (full, branches, kill) => {
      const { chain, clock, run } = await play(full, ['run', 'fork', 'fork of the fork']);
      let last = run;
      for (const { share, set } of branches) {
        last = await chain.fork(last.id, { at: 1 + Math.floor(share * (last.entries.length - 2)), set });
        await runUntilEnded(last, clock, full.random.words);
        await last.answer;
        expect(replay(readBack(last.entries)).divergence).toBeNull();
        expect(clock.openTimers).toBe(0);
      }
      const journal = await resumed(full, last.id, upTo(kill, last.entries));
      expect(replay(readBack(journal)).divergence).toBeNull();
    }),
    { numRuns: sampleSize('resumed full runs', 10, 200) },
  );
});
