import { PostChainError } from '../../../machines/contracts/error.ts';
import { pauses } from '../../internal/async.ts';
import { describeValue } from '../../internal/describe-value.ts';
import { makeDirectory } from '../../internal/make-directory.ts';
import type { DurableEntry } from '../entries.ts';
import { fileMailbox } from './file-mail.ts';
import { type FileNames, fileNames, LOCK } from './file-names.ts';
import { lineReader, unreadable } from './journal-lines.ts';
import type { JournalStoreOptions, Journals, OpenJournalOptions } from './journal-store.ts';
import { seemsHeld } from './lease.ts';
import { dropTornLine, firstAndLastLine, fs, linesOfFile, linesOfFileBackward, paths } from './line-file.ts';
import {
  createLineStore,
  type FirstAndLast,
  type JournalBackend,
  journalExists,
  type LineBounds,
  type LineSink,
  type LinesQuery,
  noSuchJournal,
  repeat,
  requireStoreOptions,
  subjectOf,
} from './line-store.ts';
import { createFile, type HeldLock, readLock, takeLock, takeOverLock } from './lock-file.ts';

/**
 * Keeps each journal as a file of compressed lines in a directory, readable by its owner only. The directory is created on the first write.
 * The entries of a step are handed to the operating system before its actor continues, so they survive a crash of the process; a power
 * failure may lose the latest ones, unless `fsync` is set. Throws `invalid_option` if `folder` is not a path, and throws or rejects with
 * `invalid_path` if the directory cannot be used.
 */
export function fileJournals(folder: string, options: JournalStoreOptions = {}): Journals {
  requireStoreOptions('fileJournals', options);
  const resolved = requirePath(folder, 'directory');
  const names = fileNames(resolved);
  const backend = fileBackend(names, folder);
  const mail = fileMailbox(resolved, names);
  return createLineStore(
    {
      ...backend,
      mail,
      create(id) {
        orInvalidPath(folder, () => makeDirectory(resolved));
        return backend.create(id);
      },
      reopen: async (id, options) => ({ ...(await backend.reopen(id, options)), hasMail: mail.has(id) }),
      async remove(id) {
        await backend.remove(id);
        mail.forget(id);
      },
      bounds: (query) => boundsIn(resolved, names, query, backend.boundsOf),
      watch: (onChange) => watchFolder(resolved, names, onChange),
    },
    options,
  );
}

/** Returns a journal store for one file with one entry per line, whatever the id of the actor. `create` overwrites the file. */
export function journalFile(path: string, options: JournalStoreOptions = {}): Journals {
  const resolved = requirePath(path, 'file');
  const backend = fileBackend({ pathOf: () => resolved, keepId: () => {}, forgetId: () => {} }, path);
  return createLineStore(
    { ...backend, create: backend.replace, bounds: (query) => backend.boundsOf(resolved, query) },
    { ...options, isPlain: true },
  );
}

/**
 * Yields the entries of a journal file, in order. A last line without a line feed, as a killed process may leave it, is skipped. Throws
 * `invalid_journal` if the file cannot be read, or if a line is not an entry, was changed or is out of place.
 */
export async function* readJournal(path: string): AsyncGenerator<DurableEntry> {
  const reader = lineReader(path);
  try {
    for await (const line of linesOfFile(path)) for (const { entry } of reader.read(line)) yield entry();
  } catch (cause) {
    if (cause instanceof PostChainError) throw cause;
    throw unreadable(path, cause instanceof Error ? cause.message : String(cause), cause);
  }
  reader.end();
}

/** Returns a backend of journal files. A lock file beside each journal marks it as in use while it is written. */
function fileBackend({ pathOf, keepId, forgetId }: Omit<FileNames, 'idOf'>, givenPath: string) {
  const exists = (id: string): boolean => statusOf(pathOf(id)) !== undefined;
  function requireNew(id: string): void {
    if (exists(id)) throw journalExists(id);
  }
  async function lockExisting(id: string, how: OpenJournalOptions): Promise<HeldLock | null> {
    let lock: HeldLock | null = null;
    try {
      const isKnown = exists(id) || statusOf(lockPathOf(pathOf(id))) !== undefined;
      const path = isKnown ? requireLockPath(pathOf(id)) : null;
      if (path !== null) lock = await takeOverLock(path, subjectOf(id), how, fenceOf(pathOf(id)));
    } catch (cause) {
      throw invalidPath(givenPath, cause);
    }
    if (exists(id)) return lock;
    // It may have no entry yet, or have been deleted before this process had the lock.
    lock?.release();
    throw noSuchJournal(id);
  }

  return {
    create: (id: string) =>
      orInvalidPath(givenPath, () => {
        requireNew(id);
        return openLocked(pathOf(id), takeFileLock(pathOf(id), id), (path) => {
          // Another process may have created it before this one had the lock.
          requireNew(id);
          // With its first lines at once, so that a killed process leaves no empty journal.
          return (text) => {
            keepId(id);
            if (!createFile(path, text, copyOf(path))) throw journalExists(id);
            return fs().openSync(path, 'a', 0o600);
          };
        });
      }),
    replace: (id: string) =>
      orInvalidPath(givenPath, () =>
        openLocked(pathOf(id), takeFileLock(pathOf(id), id), (path) => fs().openSync(path, 'w', 0o600)),
      ),
    lines: (id: string, from = 0) =>
      orInvalidPath(
        givenPath,
        () => {
          if (exists(id)) return linesOfFile(pathOf(id), from);
          if (seemsHeld(readLock(lockPathOf(pathOf(id))))) return [];
          throw noSuchJournal(id);
        },
        'read',
      ),
    linesBackward: (id: string) => linesOfFileBackward(pathOf(id)),
    async reopen(id: string, how: OpenJournalOptions = {}) {
      const lock = await lockExisting(id, how);
      return orInvalidPath(givenPath, () =>
        openLocked(pathOf(id), lock, (path) => {
          dropTornLine(path, () => lock?.check());
          return fs().openSync(path, 'a', 0o600);
        }),
      );
    },
    async remove(id: string) {
      const lock = await lockExisting(id, {});
      try {
        orInvalidPath(givenPath, () => fs().rmSync(pathOf(id)));
        forgetId(id);
      } finally {
        lock?.release();
      }
    },
    boundsOf(id: string, { isKnown }: LinesQuery = {}): readonly LineBounds[] {
      const path = pathOf(id);
      const version = versionOf(path);
      if (version === null) return [];
      const lines = isKnown?.(id, version) === true ? null : firstAndLastOrEmpty(path);
      return [{ id, version, lines, isWritten: orElse(false, () => seemsHeld(readLock(lockPathOf(path)))) }];
    },
  } satisfies Omit<JournalBackend, 'bounds'> & Record<string, unknown>;
}

/**
 * Syncs a file, and with its directory the name of a new one, while this process continues. Windows cannot open a directory for this, and
 * does not need it.
 */
async function syncFile(file: number, folder: string | null): Promise<void> {
  await process.getBuiltinModule('node:util').promisify(fs().fsync)(file);
  if (folder === null || process.platform === 'win32') return;
  const opened = await fs().promises.open(folder, 'r');
  await opened.sync().finally(() => opened.close());
}

/**
 * Opens a file that this process has locked; releases the lock if that fails. If `open` returns a function, that starts the file with its
 * first lines.
 */
function openLocked(
  path: string,
  lock: HeldLock | null,
  open: (path: string) => number | ((text: string) => number),
): LineSink {
  try {
    return fileSink(path, lock, open(path));
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function fileSink(path: string, lock: HeldLock | null, opened: number | ((text: string) => number)): LineSink {
  let file = opened;
  let isNameSynced = false;
  let syncing: Promise<unknown> | null = null;
  /** Throws if the journal was taken over and replaced by a copy without the last lines: the process may have been paused while it wrote. */
  function requireOwn(): void {
    const isRemoved = typeof file === 'number' && fs().fstatSync(file).nlink === 0;
    lock?.check();
    if (isRemoved) throw new PostChainError('invalid_path', `The journal file "${path}" was removed during a write`);
  }
  function release(): void {
    if (typeof file === 'number') fs().closeSync(file);
    lock?.release();
  }
  return {
    append(lines, { sync }) {
      lock?.check();
      const text = lines.map((line) => `${line}\n`).join('');
      if (typeof file === 'number') fs().appendFileSync(file, text);
      else file = file(text);
      if (!sync) return requireOwn();
      syncing = Promise.all([syncing, syncFile(file, isNameSynced ? null : paths().dirname(path))]);
      isNameSynced = true;
      return syncing.then(requireOwn);
    },
    close: () => (syncing === null ? release() : syncing.then(release, release)),
  };
}

/** Returns the path of the lock file of a file that may be written; null for a device or a pipe, which gets none. */
function requireLockPath(path: string): string | null {
  if (statusOf(path)?.isFile() === false) return null;
  if (statusOf(paths().dirname(path)) === undefined) throw new Error('its directory does not exist');
  return lockPathOf(path);
}

function takeFileLock(path: string, id: string): HeldLock | null {
  const lock = requireLockPath(path);
  return lock === null ? null : takeLock(lock, subjectOf(id), fenceOf(path));
}

const fenceOf = (path: string) => (check: () => void) => replaceByCopy(path, check);

/** Returns the path of a journal's lock file: the same for all symbolic links to the journal. */
function lockPathOf(path: string): string {
  // The journal may not exist yet.
  return `${statusOf(path) === undefined ? path : fs().realpathSync.native(path)}${LOCK}`;
}

/** Returns a new path beside a file. What a killed process leaves there is removed with its lock. */
const copyOf = (path: string): string => `${path}${LOCK}.${globalThis.crypto.randomUUID()}.copy`;

/**
 * Replaces a file with a copy, so that a process that still writes to the old one writes to an unlinked file. `check` throws if another
 * process has taken over since, and may have written.
 */
function replaceByCopy(path: string, check: () => void): void {
  if (statusOf(path) === undefined) return;
  const real = fs().realpathSync(path);
  const copy = copyOf(real);
  try {
    fs().copyFileSync(real, copy);
    check();
    fs().renameSync(copy, real);
  } finally {
    fs().rmSync(copy, { force: true });
  }
}

/** Returns the first and last line of a file. Both are empty if it cannot be read, so that it is listed as damaged. */
const firstAndLastOrEmpty = (path: string): FirstAndLast =>
  orElse({ first: '', last: '' }, () => firstAndLastLine(path));

/** Yields the journals of a directory, the most recently written first, while other work runs in between. */
async function* boundsIn(
  folder: string,
  { pathOf, idOf }: FileNames,
  query: LinesQuery | undefined,
  boundsOf: (id: string, query: LinesQuery | undefined) => readonly LineBounds[],
): AsyncGenerator<LineBounds> {
  const pause = pauses();
  const found: { readonly id: string; readonly mtimeMs: number }[] = [];
  for (const id of query?.ids ?? namesIn(folder).flatMap(idOf)) {
    const mtimeMs = query?.ids === undefined ? mtimeOf(pathOf(id)) : 0;
    found.push({ id, mtimeMs });
    await pause();
  }
  query?.onFound?.(found.length);
  for (const { id } of found.sort((one, other) => other.mtimeMs - one.mtimeMs)) {
    yield* boundsOf(id, query);
    await pause();
  }
}

/** Polls a directory, which need not exist yet, and the files that a process writes: network file systems report no changes. */
function watchFolder(folder: string, names: FileNames, onChange: (ids: readonly string[] | null) => void): () => void {
  let changedAtMs = -1;
  let written: ReadonlyMap<string, string | null> = new Map();
  function poll(): void {
    const before = { changedAtMs, written };
    changedAtMs = mtimeOf(folder);
    const hasChanged = changedAtMs !== before.changedAtMs;
    const ids = hasChanged ? writtenIn(folder, names) : [...written.keys()];
    written = new Map(ids.map((id) => [id, versionOf(names.pathOf(id))]));
    if (before.changedAtMs < 0) return;
    const changed = ids.filter((id) => written.get(id) !== before.written.get(id));
    if (hasChanged) onChange(null);
    else if (changed.length > 0) onChange(changed);
  }
  poll();
  return repeat(poll);
}

/** Returns the ids of the journals with a lock file; none if the directory cannot be read now. */
const writtenIn = (folder: string, { idOf }: FileNames): readonly string[] =>
  orElse([], () => namesIn(folder).flatMap((name) => (name.endsWith(LOCK) ? idOf(name.slice(0, -LOCK.length)) : [])));

/** Returns the status of a file; undefined if it does not exist. Throws if the file system does not show whether it does. */
const statusOf = (path: string) => fs().statSync(path, { throwIfNoEntry: false });

/** Returns `fallback` if `act` throws. */
function orElse<Value>(fallback: Value, act: () => Value): Value {
  try {
    return act();
  } catch {
    return fallback;
  }
}

const mtimeOf = (path: string): number => orElse(0, () => statusOf(path)?.mtimeMs ?? 0);

/** Returns a version that changes with every line of a file, or null if the file does not exist. */
function versionOf(path: string): string | null {
  // What cannot be examined is listed as damaged.
  const status = orElse(null, () => statusOf(path));
  return status === undefined ? null : `${status?.size} ${status?.mtimeMs}`;
}

function namesIn(folder: string): readonly string[] {
  return orInvalidPath(
    folder,
    () => {
      const status = statusOf(folder);
      if (status === undefined) return [];
      if (!status.isDirectory())
        throw new PostChainError(
          'invalid_path',
          `"${folder}" is not a directory; expected a directory or an SQLite file (.db)`,
        );
      return fs()
        .readdirSync(folder, { withFileTypes: true })
        .flatMap((file) => (file.isFile() || file.isSymbolicLink() ? [file.name] : []));
    },
    'read',
  );
}

/** Resolves a path at once, because the working directory may change later. */
function requirePath(path: unknown, kind: string): string {
  if (typeof path === 'string' && path.trim() !== '' && !path.includes('\0')) return paths().resolve(path);
  throw new PostChainError(
    'invalid_option',
    `journals: expected the path of a ${kind}; received ${describeValue(path)}`,
  );
}

function orInvalidPath<Value>(path: string, act: () => Value, use: 'read' | 'write' = 'write'): Value {
  try {
    return act();
  } catch (cause) {
    throw invalidPath(path, cause, use);
  }
}

function invalidPath(path: string, cause: unknown, use: 'read' | 'write' = 'write'): PostChainError {
  if (cause instanceof PostChainError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = /^(?:ENOSPC|EDQUOT)\b/u.test(reason)
    ? 'free space on its volume'
    : `expected a path in an existing directory that this process may ${use}`;
  return new PostChainError('invalid_path', `Cannot ${use} the journal "${path}" (${reason}); ${remedy}`, { cause });
}
