import type { Term } from '../../text/terms.ts';

/** Capitalised words that stand together, as "Bank of England" does. */
export interface NameRun {
  readonly stems: readonly string[];
  /** What stands before each stem: "", "of", "and", …, or POSSESSIVE where the word before owns it. */
  readonly binders: readonly string[];
  /** Whether it opens a sentence, so that its capital letter says little. */
  readonly opens: boolean;
  /** In the text, in UTF-16 units from 0. */
  readonly start: number;
}

/** How the content words of a text stand in it. */
export interface Layout {
  /** The sentence of each term, from 0; a line break ends a sentence. */
  readonly sentences: readonly number[];
  readonly runs: readonly NameRun[];
}

const POSSESSIVE = "'s";
const SENTENCE_END = /[.!?…]["”’')\]]*\s|\n/;
const ENDS = /[.!?…\n]/;
const LETTER = /\p{L}/u;
const CAPITAL = /^\p{Lu}/u;
const ABBREVIATIONS = new Set('st dr mr mrs ms jr sr vs prof gen col rev no vol inc ltd co'.split(' '));
/** What may stand between the words of one name. */
const BINDERS = new Set([
  '',
  '.',
  '-',
  '&',
  'of the',
  'de la',
  ...'of the and de da di du van von der la le al'.split(' '),
]);
/** What stands between two words is looked at this far. */
const MAX_GAP_CHARS = 200;

/** Sentences and names, from the places of a text's terms. Linear: one pass, without a second look at the words. */
export function layoutOf(text: string, terms: readonly Term[]): Layout {
  const sentences: number[] = [];
  const runs: NameRun[] = [];
  let run: { stems: string[]; binders: string[]; opens: boolean; start: number } | null = null;
  let before: Term | null = null;
  let [sentence, end] = [0, 0];
  for (const term of terms) {
    if (before?.start !== term.start) {
      const gap = text.slice(end, Math.min(term.start, end + MAX_GAP_CHARS));
      const ends = before !== null && endsSentence(gap, before.surface);
      if (ends) sentence += 1;
      const binder = gap.trim();
      const capital = CAPITAL.test(term.surface);
      if (run !== null && capital && !ends && BINDERS.has(binder)) {
        run.stems.push(term.stem);
        run.binders.push(/['’]s$/.test(before?.surface ?? '') ? POSSESSIVE : binder);
      } else {
        if (run !== null) runs.push(run);
        const opens = (ends || before === null) && !LETTER.test(gap.split(ENDS).at(-1) ?? '');
        run = capital ? { stems: [term.stem], binders: [''], opens, start: term.start } : null;
      }
      end = term.start + term.surface.length;
      before = term;
    }
    sentences.push(sentence);
  }
  if (run !== null) runs.push(run);
  return { sentences, runs };
}

function endsSentence(gap: string, before: string): boolean {
  if (gap === ' ' || !SENTENCE_END.test(gap)) return false;
  return gap.trim() !== '.' || gap.includes('\n') || !(before.length === 1 || ABBREVIATIONS.has(before.toLowerCase()));
}

/** A list of names: "Ann Lee and Bo's". */
export const LISTING: ReadonlySet<string> = new Set(['and', '&', POSSESSIVE]);
/** A name made of names: "Bank of England". */
export const COMPOSING: ReadonlySet<string> = new Set([...LISTING, 'of', 'the', 'of the']);

/** A name cut where one of these binders stands. */
export function partsOf({ stems, binders }: NameRun, at: ReadonlySet<string>): readonly (readonly string[])[] {
  const starts = binders.flatMap((binder, place) => (place === 0 || at.has(binder) ? [place] : []));
  return starts.map((from, part) => stems.slice(from, starts[part + 1]));
}
