import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { describeSystemError } from '../../internal/system-error.ts';

/** Returns the real path of the directory whose files may be loaded. Throws `invalid_path`. */
export function requireRoot(path: string): string {
  const root = realPath(path, path);
  if (statSync(root).isDirectory()) return root;
  throw new PostChainError('invalid_path', `--root: "${path}" is not a directory`);
}

/**
 * Returns the real path of a file within a directory, followed by its `#NAME`, if any. Throws `invalid_path` for any other file: a client
 * may name only files of the project.
 */
export function allowedFile(given: string, root: string): string {
  const at = given.lastIndexOf('#');
  const [path, name] = at < 0 || isFile(resolve(root, given)) ? [given, ''] : [given.slice(0, at), given.slice(at)];
  const real = realPath(resolve(root, path), path);
  const from = relative(root, real);
  if (from === '..' || from.startsWith(`..${sep}`) || isAbsolute(from))
    throw new PostChainError(
      'invalid_path',
      `"${path}" is outside of ${root}${real === resolve(root, path) ? '' : `, because it is a link to ${real}`}; only files in this directory are loaded. Pass a file in it, or start the server with another --root`,
    );
  if (isFile(real)) return `${real}${name}`;
  throw new PostChainError('invalid_path', `"${path}" is not a file; pass the path of a module that exports a machine`);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function realPath(path: string, given: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new PostChainError(
      'invalid_path',
      `Cannot open "${given}": ${describeSystemError(cause)}; expected a path within the project`,
      { cause },
    );
  }
}
