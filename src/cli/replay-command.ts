import type { JournalEntry } from '../../machines/contracts/journal-entry.ts';
import { count, grouped } from '../presentation/printable.ts';
import { divergenceText } from '../replay/divergence.ts';
import { replay } from '../replay/replay.ts';
import { findRun, type JournalFlags } from './open-journals.ts';
import { createProgress } from './progress.ts';
import { createScreen } from './screen.ts';

export interface ReplayFlags extends JournalFlags {
  readonly speed?: number;
  readonly json?: boolean;
}

/** `postchain replay`: plays a recording on the charts, with no model, and says whether all came out the same. Gives the exit code. */
export async function replayCommand(name: string, flags: ReplayFlags, { stdout, stderr } = process): Promise<number> {
  const { store, runId } = await findRun(name, flags);
  const recorded: JournalEntry[] = [];
  for await (const entry of store.read(runId)) recorded.push(entry);
  const { divergence, journal } = replay(recorded);
  const same = divergence?.seq ?? journal.length;
  if (flags.speed !== undefined) await tell(journal.slice(0, same), flags.speed, stderr);
  const found = { entries: recorded.length, decisions: decisionsIn(recorded), same: divergence === null, divergence };
  if (flags.json) stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  else if (divergence === null)
    stdout.write(`The same: ${grouped(found.entries)} entries, ${count(found.decisions, 'decision')}.\n`);
  else stdout.write(`Not the same: ${divergenceText(divergence)}.\n`);
  return divergence === null ? 0 : 1;
}

const decisionsIn = (entries: readonly JournalEntry[]): number =>
  entries.filter(({ type }) => type === 'decision').length;

/** Shows it as it went, so many times as fast. */
async function tell(entries: readonly JournalEntry[], speed: number, out: NodeJS.WriteStream): Promise<void> {
  const { setTimeout: sleep } = await import('node:timers/promises');
  const progress = createProgress(createScreen(out));
  let atMs = 0;
  for (const entry of entries) {
    const waitMs = (entry.atMs - atMs) / speed;
    atMs = entry.atMs;
    if (waitMs >= 1) await sleep(waitMs);
    progress(entry);
  }
}
