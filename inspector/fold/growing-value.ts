/** A value of JSON as far as it has come. It grows in place: whoever reads it does so at once. */
export type GrowingValue =
  | { readonly kind: 'text'; text: string; open: boolean }
  | { readonly kind: 'number'; text: string; open: boolean }
  | { readonly kind: 'word'; text: string; open: boolean }
  | { readonly kind: 'list'; readonly items: GrowingValue[]; open: boolean }
  | { readonly kind: 'members'; readonly members: GrowingMember[]; open: boolean };

export interface GrowingMember {
  name: string;
  /** Null until something of its value has come. */
  value: GrowingValue | null;
}

/** A whole value. */
export function grownFrom(json: unknown): GrowingValue {
  const open = false;
  if (typeof json === 'string') return { kind: 'text', text: json, open };
  if (typeof json === 'number') return { kind: 'number', text: String(json), open };
  if (Array.isArray(json)) return { kind: 'list', items: json.map(grownFrom), open };
  if (typeof json !== 'object' || json === null) return { kind: 'word', text: String(json), open };
  const members = Object.entries(json).map(([name, value]) => ({ name, value: grownFrom(value) }));
  return { kind: 'members', members, open };
}

/** As JSON.parse would give it; what is still open as far as it is there. A member that came twice is what it was last. */
export function jsonOf(value: GrowingValue | null): unknown {
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
