import fc from 'fast-check';
import { createRunFold, type RunFold } from '../../../inspector/fold/run-fold.ts';
import { createRunLog, type RunLog } from '../../../inspector/log/run-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import { memoryJournals } from '../../../src/journal/stores/memory-journals.ts';
import { aRandomRun, playToEnd, type RandomRun, randomChain } from '../../support/random-runs.ts';

/** A random run with its states, as a journal file has it. */
async function record(random: RandomRun): Promise<readonly JournalEntry[]> {
  const { chain, clock } = randomChain(random, { journals: memoryJournals() });
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  await playToEnd(run, clock, random.words);
  return JSON.parse(JSON.stringify(run.journal));
}

/** So many random runs; the same for the same seed. */
export async function someRuns(numRuns: number, seed: number): Promise<readonly (readonly JournalEntry[])[]> {
  const runs: (readonly JournalEntry[])[] = [];
  for (const random of fc.sample(aRandomRun, { numRuns, seed })) runs.push(await record(random));
  return runs;
}

/** Entries as the page has them. */
export function folded(entries: readonly JournalEntry[]): { readonly log: RunLog; readonly fold: RunFold } {
  const log = createRunLog();
  const fold = createRunFold();
  log.add(
    entries.map((entry) => JSON.stringify(entry)),
    fold.take,
  );
  return { log, fold };
}
