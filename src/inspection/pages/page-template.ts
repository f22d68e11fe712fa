import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { builtFolder } from './built-folder.ts';

/** The pages that are one file each, and the element of data in them that the build left empty: no browser runs it. */
const PAGES = {
  run: { folder: 'inspector-file', room: 'recording', name: 'the inspector' },
  coverage: { folder: 'inspector-coverage', room: 'coverage', name: 'coverage' },
} as const;

/** What a page is to show, as text that can stand in it: no text within ends the element that it stands in. */
export const pageData = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c');

/** The page with its data in it, and their checksum where it is to hold them against one. */
export async function pageWith(page: keyof typeof PAGES, data: string, checksum?: string): Promise<string> {
  const { folder, room, name } = PAGES[page];
  const template = await readTemplate(join(builtFolder(folder), 'index.html'), name);
  const start = `<script type="application/json" id="${room}"`;
  const [before, after] = template.split(`${start}></script>`);
  if (before === undefined || after === undefined) throw notBuilt(name);
  const held = checksum === undefined ? '' : ` data-sha256="${checksum}"`;
  return `${before}${start}${held}>${data}</script>${after}`;
}

async function readTemplate(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw notBuilt(name, cause);
  }
}

function notBuilt(name: string, cause?: unknown): PostChainError {
  return new PostChainError('invalid_path', `The page of ${name} is not built: npm run build makes it.`, { cause });
}
