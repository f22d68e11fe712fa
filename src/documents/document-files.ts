import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { glob } from 'tinyglobby';
import { PostChainError } from '../../machines/contracts/error.ts';

/** A file to read: where it is, how it is shown, and whether it was asked for by name or found in a folder. */
export interface DocumentFile {
  readonly absolutePath: string;
  readonly path: string;
  readonly named: boolean;
}

const KINDS = ['md', 'markdown', 'mdx', 'txt', 'text', 'html', 'htm', 'json'];

/**
 * The files that the paths stand for, each once, in the order of the paths and by name within a folder. Dotfiles,
 * `node_modules` and symbolic links within folders are left out. Throws `invalid_path`.
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
  if (!stats.isDirectory()) throw invalidPath(path, 'neither a file nor a folder');
  mustBeReadable(path, absolutePath);
  const pattern = `**/*.{${KINDS.join(',')}}`;
  const found = await glob(pattern, {
    cwd: absolutePath,
    ignore: ['**/node_modules/**'],
    caseSensitiveMatch: false,
    followSymbolicLinks: false,
    expandDirectories: false,
  }).catch((cause: unknown) => {
    throw invalidPath(path, 'a folder that cannot be read', cause);
  });
  return found.sort(byCodeUnits).map((inside) => ({
    absolutePath: resolve(absolutePath, inside),
    path: shownPath(`${path.replace(/[\\/]+$/, '')}/${inside}`),
    named: false,
  }));
}

/** A folder without the right to list it would look like an empty one. */
function mustBeReadable(path: string, absolutePath: string): void {
  try {
    accessSync(absolutePath, constants.R_OK | constants.X_OK);
  } catch (cause) {
    throw invalidPath(path, 'a folder that cannot be read', cause);
  }
}

function statsOf(path: string, absolutePath: string): Stats {
  if (path.trim() === '') throw invalidPath(path, 'an empty path');
  try {
    return statSync(absolutePath);
  } catch (cause) {
    throw invalidPath(path, 'a path that does not exist or cannot be reached', cause);
  }
}

/** Relative to the current folder where it is inside it, as it was given otherwise; with forward slashes. */
function shownPath(path: string): string {
  const inside = relative(process.cwd(), resolve(path));
  const shown = inside === '' || inside.startsWith('..') || isAbsolute(inside) ? path : inside;
  return sep === '\\' ? shown.replaceAll('\\', '/') : shown;
}

function byCodeUnits(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The one error of loading: one line with what was got, what is wanted and what to do. */
export function invalidPath(path: string, what: string, cause?: unknown): PostChainError {
  const message = `Got ${what}: ${JSON.stringify(path)}. Wanted is a readable file or folder; check the spelling and the rights.`;
  return new PostChainError('invalid_path', message, cause === undefined ? {} : { cause });
}
