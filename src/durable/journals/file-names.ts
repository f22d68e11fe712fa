import { parseJson } from '../../internal/json-text.ts';
import { fs, nameDigest, paths } from './line-file.ts';

export const LOCK = '.lock';
const EXTENSION = '.jsonl';

/** The names of the journal files in a directory. */
export interface FileNames {
  pathOf(id: string): string;
  /** Returns the id of the journal in a file; empty for files that this store did not create. */
  idOf(name: string): readonly string[];
  /** Stores the id of a new journal if the name of its file does not contain it. */
  keepId(id: string): void;
  forgetId(id: string): void;
}

/**
 * A file name has at most 255 bytes. The longest one is that of the temporary file of a process that takes over a lock: it adds 111 bytes to
 * an encoded id.
 */
const MAX_ENCODED_BYTES = 140;

/** Windows reserves these names, with any extension, and rejects `*`, which is not encoded. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\*/iu;

/**
 * Returns the names of the journals in `folder`. A file is named after its id, encoded as in a URL. If that would not be a file name, its name
 * is a part of the id, `=`, which encoded ids do not have, and a digest of the id. Then a file beside it contains the id, for lists.
 */
export function fileNames(folder: string): FileNames {
  const join = (name: string): string => paths().join(folder, name);
  function nameOf(id: string): string {
    // A lone surrogate cannot be encoded.
    const encoded = /\p{Cs}/u.test(id) ? '' : encodeURIComponent(id);
    const name = `${encoded}${EXTENSION}`;
    if (encoded !== '' && encoded.length <= MAX_ENCODED_BYTES && !RESERVED.test(encoded)) return name;
    return `${encoded.slice(0, 40)}=${nameDigest(id)}${EXTENSION}`;
  }
  const isHashed = (name: string): boolean => name.includes('=');
  const idFileOf = (name: string): string => join(`${name.slice(0, -EXTENSION.length)}.id`);

  function storedId(name: string): unknown {
    if (!isHashed(name)) return decodeURIComponent(name.slice(0, -EXTENSION.length));
    return parseJson(fs().readFileSync(idFileOf(name), 'utf8'));
  }
  return {
    pathOf: (id) => join(nameOf(id)),
    idOf(name) {
      if (!name.endsWith(EXTENSION)) return [];
      try {
        const id = storedId(name);
        return typeof id === 'string' && id !== '' && nameOf(id) === name ? [id] : [];
      } catch {
        return [];
      }
    },
    keepId(id) {
      const name = nameOf(id);
      if (isHashed(name)) fs().writeFileSync(idFileOf(name), JSON.stringify(id), { mode: 0o600, flush: true });
    },
    forgetId(id) {
      const name = nameOf(id);
      if (isHashed(name)) fs().rmSync(idFileOf(name), { force: true });
    },
  };
}
