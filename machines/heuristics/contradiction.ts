/** Excludes what follows: "without prices". */
const WITHOUT =
  /(?<![\p{L}\p{N}])(?:without|omit|leave out|exclud(?:e|ing)|avoid|skip|ohne|sans|sin|senza|sem)(?![\p{L}\p{N}])|不要|不用|无需/iu;
/** Negates an instruction: "do not include prices". */
const NOT =
  /(?<![\p{L}\p{N}])(?:do not|don['’]?t|never|must not|should not|nicht|keine?n?|ne pas|no|não|non)(?![\p{L}\p{N}])/iu;
/** Makes two opposite instructions an alternative, a condition, a correction, or instructions for two parts. */
const SEPARATES =
  /(?<![\p{L}\p{N}])(?:or|if|unless|when|until|otherwise|except|only|instead|rather|actually|wait|then|each|every|per|title|summary|oder|wenn|falls|sonst|je|ou|si|sinon|sauf|o|se)(?![\p{L}\p{N}])|[:：]|或|如果|除非|每/iu;
const QUOTED = /"[^"\n]{0,400}"|“[^”\n]{0,400}”|«[^»\n]{0,400}»|「[^」\n]{0,400}」|`[^`\n]{0,400}`/gu;
/** Two instructions farther apart than this (UTF-16 units) may concern different things. */
const NEAR_CHARS = 400;
const MAX_CLAUSES = 200;
const CLAUSE = /[^.;,!?。；，！？\n]+[.;,!?。；，！？\n]?/gu;
const REQUEST_CHARS = 20_000;

/** A clause of a request, its words, and the words that it excludes (null if it excludes none). */
interface Clause {
  readonly text: string;
  readonly start: number;
  readonly words: readonly string[];
  readonly excluded: readonly string[] | null;
  readonly isNegated: boolean;
}

/**
 * Returns descriptions of what a request both wants and excludes, each once: two clauses with the same words, one of
 * them negated; a clause that excludes what another names after its verb; lengths that exclude each other. Precise
 * rather than complete: questions and quotations are not read. Reads the first 20,000 UTF-16 units and 200 clauses.
 */
export function contradictionsIn(request: string): readonly string[] {
  const text = request.slice(0, REQUEST_CHARS).replace(QUOTED, (quoted) => '_'.repeat(quoted.length));
  const clauses = clausesOf(text);
  const found = new Set<string>();
  const concernOne = (one: Clause | Length, other: Clause | Length) => {
    const [first, last] = one.start < other.start ? [one, other] : [other, one];
    const end = last.start + last.text.length;
    const between =
      text.slice(first.start, end) + (/^[^.!?。！？\n]{0,400}/u.exec(text.slice(end, end + NEAR_CHARS))?.[0] ?? '');
    return last.start - first.start <= NEAR_CHARS && !SEPARATES.test(between);
  };
  for (const one of clauses)
    for (const other of one.excluded === null ? [] : clauses)
      if (other.excluded === null && names(other, one) && concernOne(one, other))
        found.add(`"${one.excluded?.join(' ')}" is both requested and excluded`);
  const lengths = lengthsIn(text);
  for (const [at, later] of lengths.entries()) {
    const earlier = lengths[at - 1];
    const excludes = earlier?.unit === later.unit && (earlier.least > later.most || later.least > earlier.most);
    if (earlier !== undefined && excludes && concernOne(earlier, later))
      found.add(`"${earlier.text}" and "${later.text}" exclude each other`);
  }
  return [...found];
}

function clausesOf(request: string): readonly Clause[] {
  const clauses: Clause[] = [];
  for (const { 0: match, index: start } of [...request.matchAll(CLAUSE)].slice(0, MAX_CLAUSES)) {
    if (/[?？]$/.test(match)) continue;
    const text = match.replace(/[.;,!。；，！\n]$/u, '');
    const marker = WITHOUT.exec(text) ?? NOT.exec(text);
    const excluded = marker === null ? null : wordsOf(text.slice(marker.index + marker[0].length));
    clauses.push({ text, start, words: wordsOf(text), excluded, isNegated: marker !== null && !WITHOUT.test(text) });
  }
  return clauses;
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}\p{M}_'’-]+/gu) ?? [];

/** Whether a clause names what the other excludes: the same words, or one word (its verb) and then those. */
function names({ words }: Clause, { excluded, isNegated }: Clause): boolean {
  if (excluded === null || excluded.length === 0) return false;
  const isTail = excluded.every((word, at) => word === words.at(at - excluded.length));
  return isTail && words.length <= excluded.length + (isNegated ? 0 : 1);
}

/** A requested length of the answer: its least and its most, in one unit. */
type Length = Pick<Clause, 'text' | 'start'> & { readonly least: number; readonly most: number; readonly unit: string };

const LENGTH =
  /(?<!\p{L})(?:(?<least>at least|more than|mindestens|au moins|al menos|至少)|(?<most>at most|no more than|less than|up to|höchstens|au plus|como máximo|最多)|(?:in|mit|en)(?: exactly| only)?)? ?(?<count>\d{1,6}|a single|one) ?(?<unit>word|sentence|paragraph|page|wort|wört|satz|sätz|mot|phrase|palabra|frase|字|句)/giu;

function lengthsIn(text: string): readonly Length[] {
  return Array.from(text.matchAll(LENGTH), ({ 0: match, index: start, groups = {} }) => {
    const count = Number(groups['count']) || 1;
    const [least, most] = [groups['most'] ? 0 : count, groups['least'] ? Number.POSITIVE_INFINITY : count];
    return { text: match, start, least, most, unit: (groups['unit'] ?? '').toLowerCase() };
  });
}
