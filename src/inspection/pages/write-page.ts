import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PostChainError } from '../../../machines/contracts/error.ts';

/** Writes a page over the one of before; its folder is made. Throws `invalid_path` where it cannot be written. */
export async function writePage(path: string, page: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, page);
  } catch (cause) {
    throw new PostChainError('invalid_path', `${path}: it cannot be written (${(cause as Error).message}).`, { cause });
  }
}
