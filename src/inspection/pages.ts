import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeSystemError } from '../internal/system-error.ts';

/** The single-file pages, and the id of the empty data element that the build leaves in each. */
const PAGES = {
  run: { folder: 'inspector-file', dataId: 'recording', name: 'the inspector' },
  coverage: { folder: 'inspector-coverage', dataId: 'coverage', name: 'coverage' },
} as const;

/** Returns data as JSON that is safe inside a script element: `<` is escaped. */
export const pageData = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** Returns a page with its data and, if given, a checksum that the page verifies. */
export async function pageWith(page: keyof typeof PAGES, data: string, checksum?: string): Promise<string> {
  const { folder, dataId, name } = PAGES[page];
  const template = await readTemplate(join(builtFolder(folder), 'index.html'), name);
  const start = `<script type="application/json" id="${dataId}"`;
  const [before, after] = template.split(`${start}></script>`);
  if (before === undefined || after === undefined) throw notBuilt(name);
  const checksumAttribute = checksum === undefined ? '' : ` data-sha256="${checksum}"`;
  return `${before}${start}${checksumAttribute}>${data}</script>${after}`;
}

async function readTemplate(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw notBuilt(name, cause);
  }
}

function notBuilt(name: string, cause?: unknown): PostChainError {
  return new PostChainError('invalid_path', `The page of ${name} is not built; run: npm run build`, { cause });
}

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
