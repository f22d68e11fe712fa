import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { count, grouped, oneLine, printableJson } from '../internal/printable.ts';
import { journalFile } from '../journal/file-journals.ts';
import { entriesOf, linesOf } from '../journal/journal-lines.ts';
import { type Divergence, divergenceText, replay } from '../journal/replay.ts';
import { rerecord } from '../journal/rerecord.ts';
import { findRun, type JournalFlags } from './open-journals.ts';
import { createProgress } from './progress.ts';
import { createScreen } from './screen.ts';

export interface ReplayFlags extends JournalFlags {
  readonly speed?: number;
  readonly json?: boolean;
  readonly update?: boolean;
  /** A file to write a test into. */
  readonly vitest?: string;
}

/** `postchain replay`: plays a recording on the charts, with no model, and says whether all came out the same. Gives the exit code. */
export async function replayCommand(name: string, flags: ReplayFlags, { stdout, stderr } = process): Promise<number> {
  if (flags.update && !existsSync(name))
    throw new PostChainError(
      'invalid_option',
      `--update: got the run ${name}; wanted a journal file: what was kept of a run stays.`,
    );
  const { store, runId } = await findRun(name, flags);
  const recorded = await entriesOf(store.read(runId));
  if (flags.vitest !== undefined) return writeTest(flags.vitest, recorded, stdout);
  const { divergence, journal } = replay(recorded);
  if (divergence !== null && flags.update) return update(name, recorded, divergence, stdout);
  const same = divergence?.seq ?? journal.length;
  if (flags.speed !== undefined) await tell(journal.slice(0, same), flags.speed, stderr);
  const found = { entries: recorded.length, decisions: decisionsIn(recorded), same: divergence === null, divergence };
  if (flags.json) stdout.write(`${printableJson(JSON.stringify(found, null, 2))}\n`);
  else if (divergence === null)
    stdout.write(`The same: ${grouped(found.entries)} entries, ${count(found.decisions, 'decision')}.\n`);
  else stdout.write(`Not the same: ${oneLine(divergenceText(divergence))}.\n`);
  return divergence === null ? 0 : 1;
}

/** Takes what the charts make of it now in place of the recording. */
async function update(
  name: string,
  recorded: readonly JournalEntry[],
  divergence: Divergence,
  stdout: NodeJS.WriteStream,
): Promise<number> {
  if ((await journalFile(name).list())[0]?.status === 'running')
    throw new PostChainError(
      'invalid_journal',
      `--update: the run in ${name} is under way; wait for it, or end it first.`,
    );
  const journal = await rerecord(recorded);
  replaceJournal(name, journal);
  stdout.write(`Updated: ${oneLine(divergenceText(divergence))}; ${grouped(journal.length)} entries.\n`);
  return 0;
}

/** What stood there stays until the new one is whole. */
function replaceJournal(path: string, journal: readonly JournalEntry[]): void {
  const whole = `${path}.new`;
  try {
    writeFileSync(whole, linesOf(journal), { mode: 0o600 });
    renameSync(whole, path);
  } catch (cause) {
    rmSync(whole, { force: true });
    throw new PostChainError('invalid_path', `${path}: it cannot be written (${(cause as Error).message}).`, { cause });
  }
}

/** What somebody wrote is not written over. */
function requireFree(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') !== text)
    throw new PostChainError('invalid_path', `--vitest: there is a file ${path}; remove it, or give another name.`);
}

const TEST_FILE = /(?:\.test)?\.[cm]?[jt]sx?$/u;

/** A test, and beside it the recording that it plays. */
async function writeTest(path: string, recorded: readonly JournalEntry[], stdout: NodeJS.WriteStream): Promise<number> {
  const { toVitest } = await import('../journal/to-vitest.ts');
  const { writeFile } = await import('node:fs/promises');
  const { basename, dirname, join } = await import('node:path');
  if (!TEST_FILE.test(path))
    throw new PostChainError('invalid_option', `--vitest: got ${path}; wanted the path of a test, say runs.test.ts.`);
  const file = `${basename(path).replace(TEST_FILE, '')}.jsonl`;
  const text = toVitest(recorded, { journalPath: `./${file}` });
  const recording = linesOf(recorded);
  requireFree(path, text);
  requireFree(join(dirname(path), file), recording);
  await writeFile(join(dirname(path), file), recording);
  await writeFile(path, text);
  stdout.write(`${path} plays ${join(dirname(path), file)}.\n`);
  return 0;
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
