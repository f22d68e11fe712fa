import fc from 'fast-check';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { memoryJournals } from '../../../src/journal/memory-journals.ts';
import {
  fullChain,
  fullRunArbitrary,
  fullRunOptions,
  type RandomRun,
  randomChain,
  randomRunArbitrary,
  runUntilEnded,
} from '../../support/random-runs.ts';

/** A run on the real charts in which everything happens that can: retries, failures, tools, a session, words of the user's. */
export async function fullRun(seed: number): Promise<readonly JournalEntry[]> {
  const [full] = fc.sample(fullRunArbitrary, { seed, numRuns: 1 });
  if (full === undefined) throw new Error('no run');
  const { chain, clock } = fullChain(full, { journals: memoryJournals() });
  const run = chain.run(fullRunOptions(full));
  await runUntilEnded(run, clock, full.random.words);
  return run.journal;
}

/** A random run with its states, as a journal file has it. */
async function record(random: RandomRun): Promise<readonly JournalEntry[]> {
  const { chain, clock } = randomChain(random, { journals: memoryJournals() });
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  await runUntilEnded(run, clock, random.words);
  return JSON.parse(JSON.stringify(run.journal));
}

/** So many random runs; the same for the same seed. */
export async function someRuns(numRuns: number, seed: number): Promise<readonly (readonly JournalEntry[])[]> {
  const runs: (readonly JournalEntry[])[] = [];
  for (const random of fc.sample(randomRunArbitrary, { numRuns, seed })) runs.push(await record(random));
  return runs;
}
