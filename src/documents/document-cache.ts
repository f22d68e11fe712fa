import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectory } from '../internal/make-directory.ts';
import type { Block } from './document.ts';

/** Increase it whenever the blocks that are read from a file change. */
const FORMAT = 7;
const EXTENSION = '.document';
const MS_PER_DAY = 86_400_000;

/**
 * A directory with one file per document that was read, named by a hash of its content. Only its owner can read the files; a file that
 * others could have written, or that is damaged, is ignored. If the
 * directory cannot be read or written, nothing is cached.
 */
export class DocumentCache {
  readonly #directory: string;
  readonly #maxBytes: number;
  #wrote = false;

  constructor(directory: string, maxBytes = 512 * 1024 * 1024) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
  }

  /** `reader` names how it is read. */
  keyOf(reader: string, content: Uint8Array): string {
    return createHash('sha256').update(`${FORMAT} ${reader}\n`).update(content).digest('hex');
  }

  async read(key: string): Promise<readonly Block[] | null> {
    try {
      return decoded(key, await this.#textOf(key));
    } catch {
      return null;
    }
  }

  async write(key: string, blocks: readonly Block[]): Promise<void> {
    const path = this.#pathOf(key);
    const unfinished = `${path}.${randomUUID()}`;
    try {
      makeDirectory(this.#directory);
      await writeFile(unfinished, encoded(key, blocks), { mode: 0o600, flag: 'wx' });
      await rename(unfinished, path);
      this.#wrote = true;
    } catch {
      await rm(unfinished, { force: true }).catch(() => {});
    }
  }

  /** Removes the files that were not used for the longest time, if all are larger than the limit. */
  async trim(): Promise<void> {
    if (!this.#wrote) return;
    try {
      const files = await this.#files();
      let bytes = files.reduce((sum, { size }) => sum + size, 0);
      for (const { path, size } of files.sort((left, right) => left.usedMs - right.usedMs)) {
        if (bytes <= this.#maxBytes) return;
        await rm(path, { force: true });
        bytes -= size;
      }
    } catch {
      // Another process may be removing the same files.
    }
  }

  #pathOf(key: string): string {
    return join(this.#directory, `${key}${EXTENSION}`);
  }

  async #textOf(key: string): Promise<string> {
    const file = await open(this.#pathOf(key), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const stats = await file.stat();
      if (!isOwn(stats)) throw new Error('not a file of this user only');
      if (Date.now() - stats.mtimeMs > MS_PER_DAY) await utimes(this.#pathOf(key), new Date(), new Date());
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  }

  async #files(): Promise<{ path: string; size: number; usedMs: number }[]> {
    const names = (await readdir(this.#directory)).filter((name) => name.includes(EXTENSION));
    const files = [];
    for (const name of names) {
      const path = join(this.#directory, name);
      const { size, mtimeMs } = await stat(path);
      files.push({ path, size, usedMs: mtimeMs });
    }
    return files;
  }
}

/** Windows has neither owners nor modes of this kind. */
function isOwn(stats: Stats): boolean {
  if (!stats.isFile()) return false;
  return process.getuid === undefined || (stats.uid === process.getuid() && (stats.mode & 0o077) === 0);
}

/** A digest of the key and the blocks, and the blocks. */
function encoded(key: string, blocks: readonly Block[]): string {
  const json = JSON.stringify(blocks);
  return `${createHash('sha256').update(`${key}\n${json}`).digest('hex')}\n${json}`;
}

/** Throws if the text is damaged or belongs to another key. */
function decoded(key: string, text: string): readonly Block[] {
  const blocks = JSON.parse(text.slice(text.indexOf('\n')));
  if (encoded(key, blocks) !== text) throw new Error('damaged');
  return blocks;
}
