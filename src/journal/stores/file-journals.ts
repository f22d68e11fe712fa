import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalStore, JournalStoreOptions } from '../../../machines/contracts/journal-store.ts';
import { makeFolder } from '../../internal/make-folder.ts';
import { describeValue } from '../../internal/options.ts';
import { dropTornLine, edgesOf, linesOfFile } from '../line-file.ts';
import { createJournalStore } from './create-journal-store.ts';
import type { JournalBackend, LineSink } from './journal-backend.ts';
import { ownerOf, releaseLock, takeLock } from './owner-lock.ts';
import { noSuchRun, runExists, runInUse } from './refusals.ts';

/** Taken when it is needed: the rest of PostChain runs where there is none, in a browser say. */
const fs = () => process.getBuiltinModule('node:fs');
const paths = () => process.getBuiltinModule('node:path');

const ENDING = '.jsonl';

/**
 * Journals as files of JSON lines in a folder, one a run, for nobody but their owner to read. The folder is made when it is first
 * written to. Each entry is handed to the system before its run goes on: it survives the death of the process, and is as safe from a
 * power cut as the file system makes it. Throws `invalid_option` for what is no path; a folder that cannot be used throws or rejects
 * with `invalid_path`.
 */
export function fileJournals(folder: string, options: JournalStoreOptions = {}): JournalStore {
  const place = requirePath('fileJournals', folder, 'folder');
  const shelf = fileShelf((runId) => paths().join(place, `${encodeURIComponent(runId)}${ENDING}`), folder);
  return createJournalStore(
    {
      ...shelf,
      create(runId) {
        orInvalidPath(folder, () => makeFolder(place));
        return shelf.create(runId);
      },
      spines: () => journalsIn(place).flatMap(shelf.spine),
    },
    options,
  );
}

/** The journal of one run as a file: `create` takes the place of what stood in it, whatever the id of the run. */
export function journalFile(path: string, options: JournalStoreOptions = {}): JournalStore {
  const place = requirePath('journalFile', path, 'file');
  const shelf = fileShelf(() => place, path);
  return createJournalStore({ ...shelf, create: shelf.replace, spines: () => shelf.spine(place) }, options);
}

/** Files, wherever they stand. A file is locked by another one beside it while it is written. */
function fileShelf(pathOf: (runId: string) => string, named: string) {
  const lockOf = (runId: string): string => `${pathOf(runId)}.lock`;

  function claim(runId: string): void {
    // A device, or a pipe, has no lock beside it.
    if (fs().existsSync(pathOf(runId)) && !fs().statSync(pathOf(runId)).isFile()) return;
    if (!fs().existsSync(paths().dirname(pathOf(runId)))) throw new Error('there is no such folder');
    const owner = takeLock(lockOf(runId));
    if (owner !== null) throw runInUse(runId, `the process ${owner}`);
  }
  function sinkTo(runId: string, flag: 'a' | 'w'): LineSink {
    const file = opened(runId, flag);
    return {
      append: (line) => fs().appendFileSync(file, `${line}\n`),
      close() {
        fs().closeSync(file);
        releaseLock(lockOf(runId));
      },
    };
  }
  function opened(runId: string, flag: 'a' | 'w'): number {
    try {
      return fs().openSync(pathOf(runId), flag, 0o600);
    } catch (error) {
      releaseLock(lockOf(runId));
      throw error;
    }
  }

  return {
    create: (runId: string) =>
      orInvalidPath(named, () => {
        if (fs().existsSync(pathOf(runId))) throw runExists(runId);
        claim(runId);
        return sinkTo(runId, 'a');
      }),
    replace: (runId: string) =>
      orInvalidPath(named, () => {
        claim(runId);
        return sinkTo(runId, 'w');
      }),
    lines(runId: string) {
      if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
      return linesOfFile(pathOf(runId));
    },
    reopen: (runId: string) =>
      orInvalidPath(named, () => {
        if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
        claim(runId);
        dropTornLine(pathOf(runId));
        return sinkTo(runId, 'a');
      }),
    spine: (runId: string) => {
      if (!fs().existsSync(pathOf(runId))) return [];
      return [{ runId, ...edges(pathOf(runId)), isWritten: ownerOf(lockOf(runId)) !== null }];
    },
  } satisfies Omit<JournalBackend, 'spines'> & Record<string, unknown>;
}

/** What cannot be read is shown as damaged. */
function edges(path: string): ReturnType<typeof edgesOf> {
  try {
    return edgesOf(path);
  } catch {
    return { first: '', last: '' };
  }
}

/** By its name: a file that was not written here has none. */
function journalsIn(folder: string): readonly string[] {
  if (!fs().existsSync(folder)) return [];
  if (!fs().statSync(folder).isDirectory())
    throw new PostChainError(
      'invalid_path',
      `The journals "${folder}" are no folder: give a folder, or an SQLite file (.db).`,
    );
  return fs()
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((file) =>
      (file.isFile() || file.isSymbolicLink()) && file.name.endsWith(ENDING)
        ? runNamed(file.name.slice(0, -ENDING.length))
        : [],
    );
}

function runNamed(name: string): readonly string[] {
  try {
    const runId = decodeURIComponent(name);
    return encodeURIComponent(runId) === name ? [runId] : [];
  } catch {
    return [];
  }
}

/** Taken now: the working folder may be another one later. */
function requirePath(what: string, path: unknown, kind: string): string {
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return paths().resolve(path);
  throw new PostChainError('invalid_option', `${what}: got ${describeValue(path)}; wanted the path of a ${kind}.`);
}

function orInvalidPath<Value>(place: string, act: () => Value): Value {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new PostChainError(
      'invalid_path',
      `The journal "${place}" cannot be written (${reason}): give a place in a folder that exists.`,
      { cause },
    );
  }
}
