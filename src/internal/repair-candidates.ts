import type { Repair } from '../../machines/contracts/repair.ts';
import { isJsonNode } from './json-schema.ts';
import { parseJson } from './json-text.ts';
import type { Candidate } from './values-in-text.ts';

let search: Promise<typeof import('./values-in-text.ts')> | null = null;

/**
 * Yields the values in a text, in order. Nothing in a broken value is taken for the value. `isEnded`: the model ended the text itself, so
 * that its last brackets may only be missing. The search is loaded when a text needs it.
 */
export async function* valuesIn(text: string, isEnded: boolean): AsyncGenerator<Candidate, void> {
  if (!/[{[]/u.test(text)) return;
  search ??= import('./values-in-text.ts');
  yield* (await search).searchValues(text, isEnded);
}

/** Members beside a value that only say what it is. */
const LABELS: ReadonlySet<string> = new Set([
  ...['type', '$schema', 'name', 'id', 'object', 'role', 'strict', 'required', 'additionalProperties'],
]);

const MAX_LAYERS = 4;

/** Yields a value found in a text that is not the expected JSON, then the values in it. */
export function* candidatesOf({ value, repairs }: Candidate): Generator<Candidate, void> {
  // If the value itself is JSON, the text around it was wrong.
  yield { value, repairs: repairs.length > 0 ? repairs : ['syntax'] };
  yield* layersOf({ value, repairs });
}

/** Yields what is in a value that has one content: the JSON in a string, the item of an array, the member of an object. */
export function* layersOf({ value, repairs }: Candidate, depth = 0): Generator<Candidate, void> {
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
  const [member, ...others] = Object.entries(value).filter(([name]) => !LABELS.has(name));
  if (member === undefined || others.length > 0) return null;
  const [name, inner] = member;
  return name === 'properties' && isSchemas(inner) ? null : [inner, 'wrapper'];
}

/** Whether an object maps names to schemas: the schema itself is not a reply. */
const isSchemas = (value: unknown): boolean =>
  isJsonNode(value) && Object.values(value).every((one) => isJsonNode(one) && ('type' in one || '$ref' in one));
