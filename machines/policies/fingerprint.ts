/**
 * A short fingerprint of a text that is the same for the same words in the same order, whatever the case, spacing and
 * punctuation: FNV-1a, 32 bit (Fowler, Noll, Vo), in hexadecimal. For telling loops, not for security.
 */
export function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []) {
    for (let i = 0; i < word.length; i += 1) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0x20, 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
