import type { PartialValue } from '../../../src/chain/presentation/partial-json.ts';

/** The value as JSON.parse returns it; an incomplete value as far as received. The last of duplicate members wins. */
export function jsonOf(value: PartialValue | null): unknown {
  if (value === null) return undefined;
  switch (value.kind) {
    case 'text':
      return value.text;
    case 'number':
      return Number(value.text);
    case 'word':
      return WORDS[value.text];
    case 'list':
      return value.items.map(jsonOf);
    default:
      return Object.fromEntries(value.members.map(({ name, value: one }) => [name, jsonOf(one)]));
  }
}

const WORDS: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
