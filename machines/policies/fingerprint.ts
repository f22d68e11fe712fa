/** Of a longer text only the beginning is read. */
const MAX_CHARS = 2_000_000;
/** Words, and the signs that tell one thing from another ("C++" and "C#", "-5" and "5"); punctuation is none. */
const TOKEN = /[\p{L}\p{N}\p{M}]+|[\p{S}#%&@*/\\]|-(?=\p{N})/gu;

/**
 * A short fingerprint of a text that is the same for the same words and signs in the same order, whatever the case, spacing and
 * punctuation: FNV-1a, 32 bit (Fowler, Noll, Vo), in hexadecimal. For telling loops, not for security.
 */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const [token] of text.slice(0, MAX_CHARS).toLowerCase().matchAll(TOKEN)) {
    for (let at = 0; at < token.length; at += 1) hash = Math.imul(hash ^ token.charCodeAt(at), 0x01000193);
    hash = Math.imul(hash ^ 0x20, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
