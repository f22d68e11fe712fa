import { type Reading, readingOf, type Word } from './reading.ts';

/** What is read of a request, from its end, and of an answer, in characters. */
const WINDOW_CHARS = 1_000;
/** A text is about what it names among its first words; its year stands not far behind the name. */
const OPENING_WORDS = 12;
const YEAR_WITHIN_WORDS = 80;
const EARLIER = /\b(?:first|earlier|earliest|older|oldest|before)\b/i;
const LATER = /\b(?:last|later|latest|younger|youngest|newer|newest|more recent|more recently)\b/i;
const OPTIONS = /(?:[,:;]|\bbetween\b|\bof\b)\s+([^,:;]{1,120}?),?\s+(?:or|and)\s+([^,:;]{1,120})$/i;

/**
 * Whether an answer to "which was first, A or B?" goes against the years that the texts about A and B give: the first year behind the
 * name, in the first text that opens with it. False where either year is missing, where both are the same, or where the answer
 * names neither or both.
 */
export function againstDates(request: string, answer: string, texts: readonly Reading[]): boolean {
  const question = request
    .slice(-WINDOW_CHARS)
    .trim()
    .replace(/[?.!"'”\s]+$/, '');
  const earlier = EARLIER.test(question);
  if (earlier === LATER.test(question)) return false;
  const options = OPTIONS.exec(question)
    ?.slice(1)
    .map((option) => readingOf(option));
  const [one, other] = options ?? [];
  if (one === undefined || other === undefined) return false;
  const said = readingOf(answer.slice(0, WINDOW_CHARS)).plain;
  const namesOne = names(said, one.plain);
  if (namesOne === names(said, other.plain)) return false;
  const years = [one, other].map(({ plain }) => yearOf(plain, texts));
  const [first, second] = years;
  if (first == null || second == null || first === second) return false;
  return first < second !== (namesOne === earlier);
}

const names = (said: string, option: string): boolean =>
  said.trim() !== '' && (said.includes(option) || option.includes(said));

function yearOf(option: string, texts: readonly Reading[]): number | null {
  for (const { plain, starts, words } of texts) {
    const place = plain.indexOf(option);
    const at = place === -1 ? -1 : starts.indexOf(place + 1);
    if (at === -1 || at > OPENING_WORDS) continue;
    const year = words.slice(at, at + YEAR_WITHIN_WORDS).find(isYear);
    if (year !== undefined) return Number(year.folded);
  }
  return null;
}

const isYear = ({ folded }: Word): boolean => /^(?:1\d{3}|20\d{2})$/.test(folded);
