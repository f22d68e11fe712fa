import { createHash, randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { endianness } from 'node:os';
import { join } from 'node:path';
import { makeDirectory } from '../internal/make-directory.ts';
import type { Block } from './document.ts';
import type { PassageTerms } from './passage-terms.ts';

/** A change to what is read from a file, to passages or to stems needs a new number. */
const FORMAT = 3;
const EXTENSION = '.document';
const MS_PER_DAY = 86_400_000;

/** What is kept of a file: its blocks, and the terms of its passages. */
export interface CachedDocument {
  readonly blocks: readonly Block[];
  readonly terms: PassageTerms;
}

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

  /** Returns the key of a file with this content. `reader` names how it is read. */
  keyOf(reader: string, content: Uint8Array): string {
    return createHash('sha256').update(`${FORMAT} ${endianness()} ${reader}\n`).update(content).digest('hex');
  }

  async read(key: string): Promise<CachedDocument | null> {
    try {
      return decoded(key, await this.#bytesOf(key));
    } catch {
      return null;
    }
  }

  async write(key: string, document: CachedDocument): Promise<void> {
    const path = this.#pathOf(key);
    const unfinished = `${path}.${randomUUID()}`;
    try {
      makeDirectory(this.#directory);
      await writeFile(unfinished, encoded(key, document), { mode: 0o600, flag: 'wx' });
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

  async #bytesOf(key: string): Promise<Uint8Array<ArrayBuffer>> {
    const file = await open(this.#pathOf(key), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      const stats = await file.stat();
      if (!isOwn(stats)) throw new Error('not a file of this user only');
      if (Date.now() - stats.mtimeMs > MS_PER_DAY) await utimes(this.#pathOf(key), new Date(), new Date());
      const bytes = new Uint8Array(stats.size);
      await file.read(bytes, 0, bytes.length, 0);
      return bytes;
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

const DIGEST_BYTES = 32;
const NUMBER_BYTES = 4;

/** A digest of the key and the rest, the length of the JSON text, the counts, and the JSON text. */
function encoded(key: string, { blocks, terms }: CachedDocument): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify({ blocks, stems: terms.stems }));
  const { counts } = terms;
  const sizes = new Uint8Array(Uint32Array.of(json.length).buffer);
  const numbers = new Uint8Array(counts.buffer, counts.byteOffset, counts.byteLength);
  const digest = createHash('sha256').update(key).update(sizes).update(numbers).update(json).digest();
  return Buffer.concat([digest, sizes, numbers, json]);
}

/** Throws if the bytes are damaged or belong to another key. */
function decoded(key: string, bytes: Uint8Array<ArrayBuffer>): CachedDocument {
  const digest = createHash('sha256').update(key).update(bytes.subarray(DIGEST_BYTES)).digest();
  if (!digest.equals(bytes.subarray(0, DIGEST_BYTES))) throw new Error('damaged');
  const [jsonBytes = 0] = new Uint32Array(bytes.buffer, DIGEST_BYTES, 1);
  const from = DIGEST_BYTES + NUMBER_BYTES;
  const to = bytes.length - jsonBytes;
  const counts = new Uint32Array(bytes.buffer.slice(from, to));
  const { blocks, stems } = JSON.parse(new TextDecoder().decode(bytes.subarray(to)));
  return { blocks, terms: { stems, counts } };
}
