import { fnv1a } from '../text/hash.ts';
import { partsOf } from '../text/words.ts';

/**
 * A short fingerprint of a text that is the same for the same words and signs in the same order, whatever the case, spacing and
 * punctuation, in hexadecimal. For telling loops, not for security.
 */
export function fingerprint(text: string): string {
  return (fnv1a(partsOf(text).join(' ')) >>> 0).toString(16).padStart(8, '0');
}
