import type { Repair } from '../../machines/contracts/repair.ts';
import { parseJson } from './json-text.ts';
import { extentOf, parseNearly } from './nearly-json.ts';

/** A value that a reply may stand for, and how it was found. */
export interface Candidate {
  readonly value: unknown;
  readonly repairs: readonly Repair[];
}

/** No more text is searched, and no more values are tried. */
const MAX_CHARS = 200_000;
const MAX_VALUES = 20;

/** A bracket and what may follow it in nearly JSON; other brackets are prose. */
const START = /\{\s*(?:["'“”‘’`{}/]|[\p{L}_$][\w$-]*\s*:)|\[\s*(?:[{["'“‘`\]\-\d]|(?:true|false|null|none)\b)/giu;

/** See `valuesIn`. */
export async function* searchValues(given: string, isEnded: boolean): AsyncGenerator<Candidate, void> {
  if (given.length > MAX_CHARS) return;
  const text = withoutFence(given.trim());
  const quoted = textInString(text);
  if (quoted !== null) {
    for await (const { value, repairs } of searchValues(quoted, false))
      yield { value, repairs: ['string', ...repairs] };
    return;
  }
  for (let count = 0, from = 0; count < MAX_VALUES; count += 1) {
    START.lastIndex = from;
    const at = START.exec(text)?.index ?? -1;
    const extent = at === -1 ? null : extentOf(text, at);
    if (extent === null || (extent.open > 0 && !isEnded)) return;
    from = extent.to;
    const found = await parseNearly(text.slice(at, from), extent);
    if (found === undefined) continue;
    yield {
      value: found.value,
      repairs: [...(found.isRepaired ? ['syntax' as const] : []), ...(count > 0 ? ['later-value' as const] : [])],
    };
  }
}

const withoutFence = (text: string): string => (text.endsWith('```') ? text.slice(0, -3).trimEnd() : text);

/** Returns the text in a JSON string, which may lack its own quotes; null for any other text. */
function textInString(text: string): string | null {
  const json = text.replace(/^```\w*\s*/u, '');
  const isEscaped = /^[{[]\s*\\+"/u.test(json);
  const content = parseJson(isEscaped ? `"${json.replaceAll('\n', '\\n')}"` : json);
  return typeof content === 'string' && content.length < text.length ? content : null;
}
