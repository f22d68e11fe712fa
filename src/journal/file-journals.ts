import type { FSWatcher, Stats } from 'node:fs';
import { PostChainError } from '../../machines/contracts/error.ts';
import type {
  JournalEntry,
  JournalStore,
  JournalStoreOptions,
  OpenJournalOptions,
} from '../../machines/contracts/journal.ts';
import { makeDirectory } from '../internal/make-directory.ts';
import { describeValue } from '../internal/options.ts';
import { lineReader, unreadable } from './journal-lines.ts';
import {
  type BoundsQuery,
  createJournalStore,
  type FirstAndLast,
  type JournalBackend,
  type JournalBounds,
  type LineSink,
  noSuchRun,
  repeat,
  runExists,
} from './journal-store.ts';
import { seemsHeld } from './lease.ts';
import { dropTornLine, firstAndLastLine, linesOfFile } from './line-file.ts';
import { type HeldLock, readLock, takeLock, takeOverLock } from './lock-file.ts';

/** Loaded on use, because the rest of PostChain also runs in browsers, which have no file system. */
const fs = () => process.getBuiltinModule('node:fs');
const paths = () => process.getBuiltinModule('node:path');

const EXTENSION = '.jsonl';

/**
 * Returns a journal store that keeps each run as a file of compressed lines in a directory, readable by its owner only. The directory
 * is created on the first write. The entries of a step are handed to the operating system before its run continues, so they survive a crash
 * of the process; a power failure may lose the latest ones, unless `fsync` is set. Throws `invalid_option` if `folder` is not a path, and
 * throws or rejects with `invalid_path` if the directory cannot be used.
 */
export function fileJournals(folder: string, options: JournalStoreOptions = {}): JournalStore {
  const resolved = requirePath('fileJournals', folder, 'directory');
  const backend = fileBackend((runId) => paths().join(resolved, `${encodeURIComponent(runId)}${EXTENSION}`), folder);
  return createJournalStore(
    {
      ...backend,
      create(runId) {
        orInvalidPath(folder, () => makeDirectory(resolved));
        return backend.create(runId);
      },
      bounds: (query) => boundsIn(resolved, query, backend.boundsOf),
      watch: (onChange) => watchFolder(resolved, onChange),
    },
    options,
  );
}

/** Returns a journal store for one file with one entry per line, whatever the id of the run. `create` overwrites the file. */
export function journalFile(path: string, options: JournalStoreOptions = {}): JournalStore {
  const resolved = requirePath('journalFile', path, 'file');
  const backend = fileBackend(() => resolved, path);
  return createJournalStore(
    { ...backend, create: backend.replace, bounds: (query) => backend.boundsOf(resolved, query) },
    { ...options, isPlain: true },
  );
}

/**
 * Yields the entries of a journal file, in order. A last line without a line feed, as a killed process may leave it, is skipped. Throws
 * `invalid_journal` if the file cannot be read, or if a line is not an entry, was changed or is out of place.
 */
export async function* readJournal(path: string): AsyncGenerator<JournalEntry> {
  const reader = lineReader(path);
  try {
    for await (const line of linesOfFile(path)) for (const { entry } of reader.read(line)) yield entry;
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  reader.end();
}

/** Returns a backend of journal files. A lock file beside each journal marks it as in use while it is written. */
function fileBackend(pathOf: (runId: string) => string, givenPath: string) {
  /** Returns the path of a journal's lock file; null for a device or a pipe, which gets none. */
  function lockOf(runId: string): string | null {
    if (fs().existsSync(pathOf(runId)) && !fs().statSync(pathOf(runId)).isFile()) return null;
    if (!fs().existsSync(paths().dirname(pathOf(runId)))) throw new Error('its directory does not exist');
    return `${pathOf(runId)}.lock`;
  }
  function claim(runId: string): HeldLock | null {
    const lock = lockOf(runId);
    return lock === null ? null : takeLock(lock, runId);
  }
  function openSink(runId: string, lock: HeldLock | null, open: (path: string) => number): LineSink {
    const file = openLocked(pathOf(runId), lock, open);
    let isNameSynced = false;
    return {
      append(lines, { sync }) {
        lock?.check();
        if (fs().fstatSync(file).nlink === 0)
          throw new PostChainError(
            'invalid_path',
            `The journal file "${pathOf(runId)}" was removed while it was written`,
          );
        fs().appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
        if (!sync) return;
        fs().fsyncSync(file);
        if (!isNameSynced) syncFolder(paths().dirname(pathOf(runId)));
        isNameSynced = true;
      },
      close() {
        fs().closeSync(file);
        lock?.release();
      },
    };
  }

  return {
    create: (runId: string) =>
      orInvalidPath(givenPath, () => {
        if (fs().existsSync(pathOf(runId))) throw runExists(runId);
        return createdSink(
          pathOf(runId),
          openSink(runId, claim(runId), (path) => fs().openSync(path, 'a', 0o600)),
        );
      }),
    replace: (runId: string) =>
      orInvalidPath(givenPath, () => openSink(runId, claim(runId), (path) => fs().openSync(path, 'w', 0o600))),
    lines(runId: string, from = 0) {
      if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
      return linesOfFile(pathOf(runId), from);
    },
    async reopen(runId: string, { force = false }: OpenJournalOptions = {}) {
      if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
      const path = orInvalidPath(givenPath, () => lockOf(runId));
      const lock = path === null ? null : await takeOverLock(path, runId, force);
      return orInvalidPath(givenPath, () =>
        openSink(runId, lock, (path) => {
          dropTornLine(path);
          return fs().openSync(path, 'a', 0o600);
        }),
      );
    },
    async remove(runId: string) {
      if (!fs().existsSync(pathOf(runId))) throw noSuchRun(runId);
      const path = lockOf(runId);
      const lock = path === null ? null : await takeOverLock(path, runId, false);
      fs().rmSync(pathOf(runId));
      lock?.release();
    },
    /** `mayBeLocked` is false if there is certainly no lock file. */
    boundsOf(
      runId: string,
      { isKnown }: BoundsQuery = {},
      mayBeLocked = true,
      status = fs().statSync(pathOf(runId), { throwIfNoEntry: false }),
    ): readonly JournalBounds[] {
      const path = pathOf(runId);
      if (status === undefined) return [];
      const version = `${status.size} ${status.mtimeMs}`;
      const lines = isKnown?.(runId, version) === true ? null : firstAndLastOrEmpty(path);
      return [{ runId, version, lines, isWritten: mayBeLocked && seemsHeld(readLock(`${path}.lock`)) }];
    },
    watch: (onChange: (runIds: null) => void) => repeat(POLL_MS, () => onChange(null)),
  } satisfies Omit<JournalBackend, 'bounds'> & Record<string, unknown>;
}

/** Returns the sink of a new file, which is removed if not even its first lines can be written. */
function createdSink(path: string, sink: LineSink): LineSink {
  let isEmpty = true;
  return {
    append(lines, options) {
      try {
        sink.append(lines, options);
        isEmpty = false;
      } catch (error) {
        // If the lock is lost, the file is another process's.
        if (isEmpty && !(error instanceof PostChainError)) fs().rmSync(path, { force: true });
        throw error;
      }
    },
    close: () => sink.close(),
  };
}

/** Syncs a directory, and with it the names of new files. Windows cannot open a directory for this, and does not need it. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return;
  const folder = fs().openSync(path, 'r');
  try {
    fs().fsyncSync(folder);
  } finally {
    fs().closeSync(folder);
  }
}

/** Opens a file that this process has locked. Releases the lock if that fails. */
function openLocked(path: string, lock: HeldLock | null, open: (path: string) => number): number {
  try {
    if (lock?.mustFence && fs().existsSync(path)) replaceByCopy(path);
    return open(path);
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Replaces a file by a copy, so that a process that still writes to the old one writes to an unlinked file. */
function replaceByCopy(path: string): void {
  const real = fs().realpathSync(path);
  const copy = `${real}.${globalThis.crypto.randomUUID()}.new`;
  try {
    fs().copyFileSync(real, copy);
    fs().renameSync(copy, real);
  } finally {
    fs().rmSync(copy, { force: true });
  }
}

/** Returns the first and last line of a file. Both are empty if it cannot be read, so that it is listed as damaged. */
function firstAndLastOrEmpty(path: string): FirstAndLast {
  try {
    return firstAndLastLine(path);
  } catch {
    return { first: '', last: '' };
  }
}

/** How long reading a directory may keep the event loop busy. */
const TURN_MS = 12;

/** Yields the journals of a directory, the most recently written first, while other work runs in between. */
async function* boundsIn(
  folder: string,
  query: BoundsQuery | undefined,
  boundsOf: (
    runId: string,
    query: BoundsQuery | undefined,
    mayBeLocked?: boolean,
    status?: Stats,
  ) => readonly JournalBounds[],
): AsyncGenerator<JournalBounds> {
  let startedAtMs = performance.now();
  async function pauseIfLate(): Promise<void> {
    if (performance.now() - startedAtMs < TURN_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    startedAtMs = performance.now();
  }
  if (query?.runIds !== undefined) {
    for (const runId of query.runIds) {
      yield* boundsOf(runId, query);
      await pauseIfLate();
    }
    return;
  }
  const names = namesIn(folder);
  const locked = new Set(names.filter((name) => name.endsWith(`${EXTENSION}.lock`)));
  const found: { readonly name: string; readonly runId: string; readonly status: Stats }[] = [];
  for (const name of names) {
    const [runId] = runIdOf(name);
    const status = runId && fs().statSync(paths().join(folder, name), { throwIfNoEntry: false });
    if (runId && status) found.push({ name, runId, status });
    await pauseIfLate();
  }
  query?.onFound?.(found.length);
  for (const { name, runId, status } of found.sort((one, other) => other.status.mtimeMs - one.status.mtimeMs)) {
    yield* boundsOf(runId, query, locked.has(`${name}.lock`), status);
    await pauseIfLate();
  }
}

const POLL_MS = 500;
/** A writer appends many lines per second. */
const GATHER_MS = 50;

/** Watches a directory, which need not exist yet. Network file systems report no changes, so its time is polled too. */
function watchFolder(folder: string, onChange: (runIds: readonly string[] | null) => void): () => void {
  const changed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let watcher: FSWatcher | null = null;
  let changedAtMs = mtimeOf(folder);

  function report(): void {
    timer = undefined;
    const runIds = [...changed];
    changed.clear();
    onChange(runIds);
  }
  function note(name: string | null): void {
    const [runId] = name === null ? [] : runIdOf(name.replace(/(?<=\.jsonl)\..*$/u, ''));
    if (runId === undefined) return;
    changed.add(runId);
    timer ??= setTimeout(report, GATHER_MS);
  }
  function stopWatcher(): void {
    watcher?.close();
    watcher = null;
  }
  function watch(): void {
    try {
      watcher ??= fs()
        .watch(folder, { persistent: false }, (_, name) => note(name))
        .on('error', stopWatcher);
    } catch {
      // The directory does not exist yet, or the system allows no more watchers.
    }
  }
  watch();
  const stopPolling = repeat(POLL_MS, () => {
    watch();
    const now = mtimeOf(folder);
    if (now !== changedAtMs) onChange(null);
    changedAtMs = now;
  });
  return () => {
    stopPolling();
    stopWatcher();
    clearTimeout(timer);
  };
}

const mtimeOf = (path: string): number => fs().statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Returns the names of the files in a directory; none if it does not exist. */
function namesIn(folder: string): readonly string[] {
  if (!fs().existsSync(folder)) return [];
  if (!fs().statSync(folder).isDirectory())
    throw new PostChainError(
      'invalid_path',
      `"${folder}" is not a directory; expected a directory or an SQLite file (.db)`,
    );
  return fs()
    .readdirSync(folder, { withFileTypes: true })
    .flatMap((file) => (file.isFile() || file.isSymbolicLink() ? [file.name] : []));
}

/** Returns the id of the run in a file; empty for files that this store did not create. */
function runIdOf(name: string): readonly string[] {
  if (!name.endsWith(EXTENSION)) return [];
  const encoded = name.slice(0, -EXTENSION.length);
  try {
    const runId = decodeURIComponent(encoded);
    return encodeURIComponent(runId) === encoded ? [runId] : [];
  } catch {
    return [];
  }
}

/** Resolves a path at once, because the working directory may change later. */
function requirePath(what: string, path: unknown, kind: string): string {
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return paths().resolve(path);
  throw new PostChainError(
    'invalid_option',
    `${what}: expected the path of a ${kind}; received ${describeValue(path)}`,
  );
}

function orInvalidPath<Value>(path: string, act: () => Value): Value {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const remedy = /^(?:ENOSPC|EDQUOT)\b/u.test(reason)
      ? 'free space on its volume'
      : 'expected a path in an existing, writable directory';
    throw new PostChainError('invalid_path', `Cannot write the journal "${path}" (${reason}); ${remedy}`, { cause });
  }
}
