import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { type Divergence, divergenceText, replay } from '../chain/journal/replay.ts';
import { rerecord } from '../chain/journal/rerecord.ts';
import { readRun } from '../chain/journal/run-journal.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import { journalFile } from '../durable/journals/file-journals.ts';
import { journalText } from '../durable/journals/journal-lines.ts';
import { count, oneLine, printableJson } from '../internal/printable.ts';
import { describeSystemError } from '../internal/system-error.ts';
import { replayActor } from './actor-commands.ts';
import { type FindFlags, findContinuable } from './find-run.ts';
import { createProgress } from './progress.ts';
import { createScreen } from './screen.ts';

export interface ReplayFlags extends FindFlags {
  readonly speed?: number;
  readonly json?: boolean;
  readonly update?: boolean;
  /** Path of the test file to write. */
  readonly vitest?: string;
}

/** Returns the exit code: 0 if all entries are identical. */
export async function replayCommand(name: string, flags: ReplayFlags, { stdout, stderr } = process): Promise<number> {
  if (flags.update && !existsSync(name))
    throw new PostChainError(
      'invalid_option',
      `--update requires a journal file, because recorded runs are never changed; received run "${name}"`,
    );
  const found = await findContinuable(name, flags);
  if (found.kind === 'actor') {
    const { text, code } = await replayActor(found, flags.json);
    stdout.write(text);
    return code;
  }
  const { store, runId } = found;
  const recorded = await readRun(store.read(runId));
  if (flags.vitest !== undefined) return writeTest(flags.vitest, recorded, stdout);
  const { divergence } = replay(recorded);
  if (divergence !== null && flags.update) return update(name, recorded, divergence, stdout);
  const same = divergence?.seq ?? recorded.length;
  if (flags.speed !== undefined) await show(recorded.slice(0, same), flags.speed, stderr);
  const result = { entries: recorded.length, decisions: decisionsIn(recorded), same: divergence === null, divergence };
  if (flags.json) stdout.write(`${printableJson(JSON.stringify(result, null, 2))}\n`);
  else if (divergence === null)
    stdout.write(`Identical: ${count(result.entries, 'entry', 'entries')}, ${count(result.decisions, 'decision')}\n`);
  else stdout.write(`Different: ${oneLine(divergenceText(divergence))}\n`);
  return divergence === null ? 0 : 1;
}

/** Replaces the recording with what the charts produce now. */
async function update(
  name: string,
  recorded: readonly JournalEntry[],
  divergence: Divergence,
  stdout: NodeJS.WriteStream,
): Promise<number> {
  if ((await journalFile(name).list())[0]?.status === 'running')
    throw new PostChainError(
      'invalid_journal',
      `--update cannot change ${name} while its run is in progress; wait until the run ends`,
    );
  const journal = await rerecord(recorded);
  replaceJournal(name, journal);
  stdout.write(
    `Updated ${name}: ${oneLine(divergenceText(divergence))}; ${count(journal.length, 'entry', 'entries')}\n`,
  );
  return 0;
}

/** Keeps the old file until the new one is complete. */
function replaceJournal(path: string, journal: readonly JournalEntry[]): void {
  const temporary = `${path}.new`;
  try {
    writeOrThrow(path, () => {
      writeFileSync(temporary, journalText(journal.map(storedEntry)), { mode: 0o600 });
      renameSync(temporary, path);
    });
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Throws `invalid_path` if `write` fails. */
function writeOrThrow(path: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    throw new PostChainError('invalid_path', `Cannot write ${path}: ${describeSystemError(cause)}`, { cause });
  }
}

/** Throws if the file exists with other content. */
function requireUnused(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') !== text)
    throw new PostChainError(
      'invalid_path',
      `--vitest: ${path} already exists with other content; remove it or choose another name`,
    );
}

const TEST_FILE = /(?:\.test)?\.[cm]?[jt]sx?$/u;

/** Writes a test, and next to it the recording that it replays, readable by its owner only: it contains the run's texts. */
async function writeTest(path: string, recorded: readonly JournalEntry[], stdout: NodeJS.WriteStream): Promise<number> {
  const { toVitest } = await import('../chain/journal/to-vitest.ts');
  if (!TEST_FILE.test(path))
    throw new PostChainError(
      'invalid_option',
      `--vitest expects the path of a test file, for example runs.test.ts; received ${path}`,
    );
  const file = `${basename(path).replace(TEST_FILE, '')}.jsonl`;
  const text = toVitest(recorded, { journalPath: `./${file}` });
  const recording = journalText(recorded.map(storedEntry));
  requireUnused(path, text);
  requireUnused(join(dirname(path), file), recording);
  writeOrThrow(join(dirname(path), file), () => writeFileSync(join(dirname(path), file), recording, { mode: 0o600 }));
  writeOrThrow(path, () => writeFileSync(path, text));
  stdout.write(`Wrote ${path} and ${join(dirname(path), file)}\n`);
  return 0;
}

const decisionsIn = (entries: readonly JournalEntry[]): number =>
  entries.filter(({ type }) => type === 'decision').length;

/** Prints the progress of a run at a multiple of its original speed. */
async function show(entries: readonly JournalEntry[], speed: number, out: NodeJS.WriteStream): Promise<void> {
  const progress = createProgress(createScreen(out));
  let atMs = 0;
  for (const entry of entries) {
    const waitMs = (entry.atMs - atMs) / speed;
    atMs = entry.atMs;
    if (waitMs >= 1) await sleep(waitMs);
    progress(entry);
  }
}
