import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { textsOf } from './texts.ts';

/** What should perhaps not leave the machine. A help for who looks, no promise: what a text means only its owner knows. */
const SHAPES: Readonly<Record<string, RegExp>> = {
  'an API key':
    /\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{35}\b/gu,
  'a token': /\bBearer\s+[\w.~+/-]{16,}|\beyJ[\w-]{10,1000}\.[\w-]{10,}\.[\w-]{5,}/gu,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/gu,
  'an address with a password': /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s/:@]{1,100}:[^\s/@]{1,100}@/giu,
  'an e-mail address': /\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+\b/gu,
  'a home folder': /(?:\/home\/|\/Users\/|\\Users\\)[^\s/\\:"']{1,64}/gu,
};

export interface Suspect {
  readonly what: string;
  readonly text: string;
  readonly seq: number;
  readonly path: string;
  /** In how many places it stands. */
  readonly places: number;
}

const MOST_CHARS = 60;

/** What looks like a secret or a person in a journal, each once, with its first place. */
export function suspectsIn(entries: Iterable<JournalEntry>): readonly Suspect[] {
  const found = new Map<string, Suspect>();
  for (const { seq, path, text } of textsOf(entries))
    for (const [what, shape] of Object.entries(SHAPES))
      for (const match of new Set(text.match(shape)?.map((whole) => whole.slice(0, MOST_CHARS)))) {
        const known = found.get(match);
        found.set(match, known ? { ...known, places: known.places + 1 } : { what, text: match, seq, path, places: 1 });
      }
  return [...found.values()];
}
