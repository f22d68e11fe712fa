import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeSystemError } from '../internal/system-error.ts';

/** Returns data as JSON that is safe inside a script element: `<` is escaped. */
export const pageData = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** Returns the single-file inspector with a recording in its empty data element, and a checksum that the page verifies. */
export async function pageWith(data: string, checksum: string): Promise<string> {
  const template = await readFile(join(builtFolder('inspector-file'), 'index.html'), 'utf8').catch((cause) => {
    throw notBuilt(cause);
  });
  const start = '<script type="application/json" id="recording"';
  const [before, after] = template.split(`${start}></script>`);
  if (before === undefined || after === undefined) throw notBuilt();
  return `${before}${start} data-sha256="${checksum}">${data}</script>${after}`;
}

const notBuilt = (cause?: unknown): PostChainError =>
  new PostChainError('invalid_path', 'The page of the inspector is not built; run: npm run build', { cause });

/** Returns the path of a folder that the build makes, whether this module runs from `dist` or from the sources. */
export function builtFolder(name: string): string {
  let root = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(root, 'package.json')) && dirname(root) !== root) root = dirname(root);
  return join(root, 'dist', name);
}

/** Writes a page, replacing an older one, and creates its directory. Throws `invalid_path` if it cannot be written. */
export async function writePage(path: string, page: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, page);
  } catch (cause) {
    throw new PostChainError('invalid_path', `Cannot write ${path}: ${describeSystemError(cause)}`, { cause });
  }
}
