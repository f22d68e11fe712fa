/** FNV-1a, 32 bit (Fowler, Noll, Vo): a number for a text. For telling texts apart, not for security. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** The same as eight hexadecimal digits: a short name for a text. */
export function hexDigest(text: string): string {
  return (fnv1a(text) >>> 0).toString(16).padStart(8, '0');
}

/** Spreads the bits of a number over all 32 of them: the finish of MurmurHash3 (A. Appleby). */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
