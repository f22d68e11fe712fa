/** Returns the 32-bit FNV-1a hash of a text (Fowler, Noll, Vo), or of all texts if `before` is that of the others. Not for security. */
export function fnv1a(text: string, before = 0x811c9dc5): number {
  let hash = before;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

export function hexDigest(text: string): string {
  return (fnv1a(text) >>> 0).toString(16).padStart(8, '0');
}

/** Primes near 2^32, one per lane. */
const LANES = [0xfffffffb, 0xffffffef, 0xffffffbf, 0xffffff9d] as const;

/** Returns a digest of 128 bits as hexadecimal digits. Accidental collisions are negligible; deliberate ones are possible. */
export function wideDigest(text: string): string {
  return LANES.map((prime) => {
    let hash = text.length;
    for (let at = 0; at < text.length; at += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(at), prime);
      hash ^= hash >>> 15;
    }
    return (spread(hash) >>> 0).toString(16).padStart(8, '0');
  }).join('');
}

/** Distributes the bits of a number over all 32: the finalizer of MurmurHash3 (A. Appleby). */
export function spread(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
