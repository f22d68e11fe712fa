import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { divergenceText, replay } from '../../../../src/chain/journal/replay.ts';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { sampleSize } from '../../../support/soak.ts';

/** As read back from a file. */
const readBack = (journal: readonly JournalEntry[]): JournalEntry[] =>
  journal.map((entry) => JSON.parse(JSON.stringify(entry)) as JournalEntry);

describe('replay', () => {
  it('[promise 6] reproduces every entry of any run, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const journals = memoryJournals();
        const { run } = await startRandomRun(random, { journals });
        const answer = await run.answer;
        const replayed = replay(readBack(run.journal));
        expect(replayed.divergence).toBeNull();
        expect(replayed.answer).toEqual(answer);
      }),
      { numRuns: sampleSize('replayed runs', 100, 5000) },
    );
  });
});

const transition = (tokens: number): JournalEntry => ({
  seq: 4,
  atMs: 1,
  type: 'transition',
  machine: 'postChain',
  event: 'xstate.init',
  source: 'routing',
  target: ['a state with a long name '.repeat(20)],
  candidates: [{ guard: 'modelMayWrite', target: ['writing'], result: 'taken', inputs: { tokens } }],
});
const stopped: JournalEntry = { seq: 4, atMs: 1, type: 'run-stopped' };

describe('divergenceText', () => {
  it.each([
    [
      'the first difference between two entries of one type',
      transition(12),
      transition(13),
      'entry 4 (transition): candidates.0.inputs.tokens was 12 in the recording and is 13 now',
    ],
    [
      'both entries if their types differ',
      stopped,
      transition(13),
      /^entry 4 was \{"seq":4,"atMs":1,"type":"run-stopped"\} in the recording and is \{"seq":4,.+… now$/u,
    ],
    [
      'a missing entry',
      stopped,
      null,
      'entry 4 was {"seq":4,"atMs":1,"type":"run-stopped"} in the recording and is missing now',
    ],
  ])('shows %s', (_, recorded, replayed, text) => {
    const description = divergenceText({ seq: 4, recorded, replayed, cause: '' });
    if (typeof text === 'string') expect(description).toBe(text);
    else expect(description).toMatch(text);
  });
});
