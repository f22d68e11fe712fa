import { firstChars } from '../../../machines/text/clip.ts';
import { plainJson } from '../../internal/plain-json.ts';

/** A result is read by a model: about 10,000 tokens at most. */
const MAX_CHARS = 40_000;

/** Returns a result as JSON of limited size. Its member `leftOut` says what was cut, where, and how much of it there is. */
export function bounded(result: object, maxChars = MAX_CHARS): Readonly<Record<string, unknown>> {
  const json = plainJson(result);
  for (let [items, chars] = [200, 10_000]; ; [items, chars] = [items / 2, chars / 2]) {
    const { value, leftOut } = cut(json, { items: Math.ceil(items), chars: Math.ceil(chars) });
    const all = leftOut.length === 0 ? value : { ...Object(value), leftOut: leftOut.slice(0, MAX_NOTES) };
    if (chars < 1 || JSON.stringify(all).length <= maxChars) return all as Readonly<Record<string, unknown>>;
  }
}

const MAX_NOTES = 20;

/** Cuts each list, object and text to a length. */
function cut(json: unknown, { items, chars }: { readonly items: number; readonly chars: number }) {
  const leftOut: string[] = [];
  function cutList<Item>(list: readonly Item[], path: string): readonly Item[] {
    if (list.length > items) leftOut.push(`${path}: ${list.length - items} of ${list.length}`);
    return list.slice(0, items);
  }
  function visit(value: unknown, path: string): unknown {
    if (typeof value === 'string') {
      if (value.length > chars) leftOut.push(`${path}: ${value.length - chars} of ${value.length} characters`);
      return firstChars(value, chars);
    }
    if (Array.isArray(value)) return cutList(value, path).map((item, at) => visit(item, `${path}[${at}]`));
    if (typeof value !== 'object' || value === null) return value;
    const entries = cutList(Object.entries(value), path);
    return Object.fromEntries(entries.map(([key, item]) => [key, visit(item, path === '' ? key : `${path}.${key}`)]));
  }
  return { value: visit(json, ''), leftOut };
}
