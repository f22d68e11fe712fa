import { readFile } from 'node:fs/promises';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { builtPage } from '../page-files.ts';

/** Where the build left room for a run: an element of data, which no browser runs. */
const ROOM = '<script type="application/json" id="recording"></script>';

/** The page for one run, with its data in it. */
export async function pageWith(data: string, checksum: string): Promise<string> {
  const template = await readTemplate(`${builtPage()}-file/index.html`);
  const [before, after] = template.split(ROOM);
  if (before === undefined || after === undefined) throw notBuilt();
  return `${before}<script type="application/json" id="recording" data-sha256="${checksum}">${data}</script>${after}`;
}

async function readTemplate(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw notBuilt(cause);
  }
}

function notBuilt(cause?: unknown): PostChainError {
  return new PostChainError('invalid_path', 'The page of the inspector is not built: npm run build makes it.', {
    cause,
  });
}
