import { describeValue } from '../../internal/describe-value.ts';
import { PostChainError } from '../error.ts';
import type { FollowOptions, ManagedJournals, OpenJournalOptions, ReadJournalOptions } from './journal-store.ts';

/** The most characters of a stored id. A file system takes names of 255 bytes, and lock files have longer ones than their journals. */
const MAX_CHARS = 180;

/** Other characters take up to nine characters of a URI component, and at most four of Base64. */
const MARK = '=';

/** Returns an id as part of a file name. */
export function fileStem(id: string): string {
  const encoded = encodeURIComponent(id);
  return encoded.length <= MAX_CHARS ? encoded : `${MARK}${Buffer.from(id).toString('base64url')}`;
}

/** Returns the id of a file name without its extension; null if it is none. */
export function idOfStem(stem: string): string | null {
  try {
    const id = stem.startsWith(MARK)
      ? Buffer.from(stem.slice(MARK.length), 'base64url').toString()
      : decodeURIComponent(stem);
    // Earlier versions wrote longer URI components.
    return id !== '' && (fileStem(id) === stem || encodeURIComponent(id) === stem) ? id : null;
  } catch {
    return null;
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Whether a value can be the id of a journal, in any store: an id that fits the name of a file. */
function isJournalId(id: unknown): id is string {
  if (typeof id !== 'string' || id === '' || id.length > MAX_CHARS || LONE_SURROGATE.test(id)) return false;
  return encodeURIComponent(id).length <= MAX_CHARS || Math.ceil((utf8Bytes(id) * 4) / 3) < MAX_CHARS;
}

const utf8Bytes = (text: string): number => new TextEncoder().encode(text).length;

/** Throws `invalid_option`, before anything is read or locked. */
export function requireJournalId(id: unknown): void {
  if (isJournalId(id)) return;
  throw new PostChainError(
    'invalid_option',
    `id: expected 1 to ${MAX_CHARS} letters, digits, "-", "_" or ".", or other text of at most 134 bytes in UTF-8; received ${describeValue(id)}.`,
  );
}

/** Lets a store check the id that it is given, and returns the store. */
export function withCheckedIds<Entry, Summary>(
  store: ManagedJournals<Entry, Summary>,
): ManagedJournals<Entry, Summary> {
  const { create, has, read, open, follow, delete: remove } = store;
  return Object.assign(store, {
    create(id: string) {
      requireJournalId(id);
      return create(id);
    },
    ...(has !== undefined && { has: async (id: string) => isJournalId(id) && has(id) }),
    read(id: string, options?: ReadJournalOptions) {
      requireJournalId(id);
      return read(id, options);
    },
    async open(id: string, options?: OpenJournalOptions) {
      requireJournalId(id);
      return open(id, options);
    },
    follow(id: string, options?: FollowOptions) {
      requireJournalId(id);
      return follow(id, options);
    },
    async delete(id: string) {
      requireJournalId(id);
      return remove(id);
    },
  });
}
