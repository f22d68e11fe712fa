import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { PostChainError } from '../../machines/contracts/error.ts';
import { UNREAD_EXTENSIONS } from './known-formats.ts';

/** A file to read. `path` is shown to people; `named` is false for a file found in a directory. */
export interface DocumentFile {
  readonly absolutePath: string;
  readonly path: string;
  readonly named: boolean;
}

const EXTENSIONS = [
  'md',
  'markdown',
  'mdx',
  'txt',
  'text',
  'html',
  'htm',
  'json',
  'jsonl',
  'ndjson',
  'csv',
  'tsv',
  'tab',
  'psv',
  'pdf',
  'docx',
];

/**
 * Returns the files at the paths, each once, in the order of the paths and by name within a directory. Omits dotfiles, `node_modules`,
 * and symbolic links within directories.
 *
 * @throws PostChainError `invalid_path`
 */
export async function documentFiles(paths: readonly string[]): Promise<DocumentFile[]> {
  const files = new Map<string, DocumentFile>();
  for (const path of paths) {
    for (const file of await filesOf(path)) if (!files.has(file.absolutePath)) files.set(file.absolutePath, file);
  }
  return [...files.values()];
}

async function filesOf(path: string): Promise<DocumentFile[]> {
  const absolutePath = resolve(path);
  const stats = statsOf(path, absolutePath);
  if (stats.isFile()) return [{ absolutePath, path: shownPath(path), named: true }];
  if (!stats.isDirectory()) throw invalidPath(path, 'is neither a file nor a directory');
  requireReadable(path, absolutePath);
  const pattern = `**/*.{${[...EXTENSIONS, ...UNREAD_EXTENSIONS].join(',')}}`;
  const found = await glob(pattern, {
    cwd: absolutePath,
    ignore: ['**/node_modules/**'],
    caseSensitiveMatch: false,
    followSymbolicLinks: false,
    expandDirectories: false,
  }).catch((cause: unknown) => {
    throw invalidPath(path, 'is a directory that cannot be read', cause);
  });
  return found.sort(byCodeUnits).map((inside) => ({
    absolutePath: resolve(absolutePath, inside),
    path: shownPath(`${path.replace(/[\\/]+$/, '')}/${inside}`),
    named: false,
  }));
}

/**
 * Returns the file's content, or its first `maxBytes` bytes if it is longer. Rejects if it is not a regular file. Files of the kernel that
 * have no size are read up to the limit; those that would wait for data reject instead.
 */
export async function readFileStart(absolutePath: string, maxBytes: number): Promise<Uint8Array> {
  const file = await open(absolutePath, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error('not a regular file');
    let bytes = new Uint8Array(Math.min(maxBytes, Math.max(stats.size + 1, FIRST_READ_BYTES)));
    for (let filled = 0; ; ) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, null);
      filled += bytesRead;
      if (bytesRead === 0 || filled === maxBytes) return bytes.subarray(0, filled);
      if (filled === bytes.length) bytes = enlarged(bytes, maxBytes);
    }
  } finally {
    await file.close();
  }
}

const FIRST_READ_BYTES = 4_096;

function enlarged(bytes: Uint8Array, maxBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(2 * bytes.length, maxBytes));
  larger.set(bytes);
  return larger;
}

/** Without this check, a directory without read permission would look empty. */
function requireReadable(path: string, absolutePath: string): void {
  try {
    accessSync(absolutePath, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw invalidPath(path, 'is a directory that cannot be read', cause);
  }
}

function statsOf(path: string, absolutePath: string): Stats {
  if (path.trim() === '') throw invalidPath(path, 'is empty');
  try {
    return statSync(absolutePath);
  } catch (cause) {
    throw invalidPath(path, 'does not exist or cannot be accessed', cause);
  }
}

/** Returns the path relative to the working directory if it is inside, otherwise as given; with forward slashes. */
function shownPath(path: string): string {
  const inside = relative(process.cwd(), resolve(path));
  const shown = inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside;
  return sep === '\\' ? shown.replaceAll('\\', '/') : shown;
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export function invalidPath(path: string, problem: string, cause?: unknown): PostChainError {
  const message = `The path ${JSON.stringify(path)} ${problem}; expected a readable file or directory. Check its spelling and permissions.`;
  return new PostChainError('invalid_path', message, cause === undefined ? {} : { cause });
}
