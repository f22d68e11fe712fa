import { storedEntry } from '../../src/chain/journal/stored-entries.ts';
import type { DurableEntry } from '../../src/durable/entries.ts';
import { startScripted } from './run-chain.ts';

/** Returns the journal of a run that has ended, as a store returns it. */
export async function recordedRun(): Promise<readonly DurableEntry[]> {
  const { run } = startScripted();
  await run.answer;
  return JSON.parse(JSON.stringify(run.entries.map(storedEntry)));
}
