import type { Repair } from '../../machines/contracts/repair.ts';
import { isJsonNode } from './json-schema.ts';
import { parseJson } from './json-text.ts';
import { extentOf, parseNearly } from './nearly-json.ts';

export interface RepairCandidate {
  readonly value: unknown;
  readonly repairs: readonly Repair[];
}

/** The most text that is searched, and the most values that are tried. */
const MAX_CHARS = 200_000;
const MAX_VALUES = 20;

/** A bracket and what may follow it in nearly JSON; other brackets are prose. */
const START =
  /\{\s*(?:["'“”‘’`{}/]|#\s|[\p{L}_$][\w$-]*\s*[:=：])|\[\s*(?:[{["'“‘`\](]|[-+]?\.?\d|(?:true|false|null|none)\b)/giu;

/**
 * Yields the values in a text, in order. Nothing in a broken value is taken for the value. `isEnded`: the model ended the text itself, so
 * that its last brackets may only be missing.
 */
export async function* valuesIn(given: string, isEnded: boolean): AsyncGenerator<RepairCandidate, void> {
  if (given.length > MAX_CHARS) return;
  const text = withoutFences(given.trim());
  const quoted = textInString(text);
  if (quoted !== null) {
    for await (const { value, repairs } of valuesIn(quoted, false)) yield { value, repairs: ['string', ...repairs] };
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

const withoutFences = (text: string): string => text.replace(/^```\w*\s*|```$/gu, '').trimEnd();

/** Returns the text in a JSON string, which may lack its own quotes; null for any other text. */
function textInString(text: string): string | null {
  const isEscaped = /^[{[]\s*\\+"/u.test(text);
  const content = parseJson(isEscaped ? `"${text.replaceAll('\n', '\\n')}"` : text);
  return typeof content === 'string' && content.length < text.length ? content : null;
}

/** Members that only describe the value next to them. */
const LABELS: readonly string[] = 'type $schema name id object role strict required additionalProperties'.split(' ');

const MAX_LAYERS = 4;

/** Yields a value found in a text that is not the expected JSON, then the values in it. */
export function* candidatesOf({ value, repairs }: RepairCandidate): Generator<RepairCandidate, void> {
  // If the value itself is JSON, the text around it was wrong.
  yield { value, repairs: repairs.length > 0 ? repairs : ['syntax'] };
  yield* layersOf({ value, repairs });
}

/** Yields what is in a value that has one content: the JSON in a string, the item of an array, the member of an object. */
export function* layersOf({ value, repairs }: RepairCandidate, depth = 0): Generator<RepairCandidate, void> {
  const found = depth === MAX_LAYERS ? null : innerOf(value);
  if (found === null) return;
  const [inner, repair] = found;
  const candidate = { value: inner, repairs: [...repairs, repair] };
  yield candidate;
  yield* layersOf(candidate, depth + 1);
}

function innerOf(value: unknown): readonly [unknown, Repair] | null {
  if (typeof value === 'string') {
    const parsed = parseJson(value);
    return typeof parsed === 'object' && parsed !== null ? [parsed, 'string'] : null;
  }
  if (Array.isArray(value)) return value.length === 1 ? [value[0], 'single-item'] : null;
  if (!isJsonNode(value)) return null;
  const [member, ...others] = Object.entries(value).filter(([name]) => !LABELS.includes(name));
  if (member === undefined || others.length > 0) return null;
  const [name, inner] = member;
  return name === 'properties' && isSchemas(inner) ? null : [inner, 'wrapper'];
}

/** Whether an object maps names to schemas: the schema itself is not a reply. */
const isSchemas = (value: unknown): boolean =>
  isJsonNode(value) && Object.values(value).every((one) => isJsonNode(one) && ('type' in one || '$ref' in one));
