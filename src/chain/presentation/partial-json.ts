/** A JSON value as far as it was received. It grows in place. */
export type PartialValue =
  | { readonly kind: 'text'; text: string; open: boolean }
  | { readonly kind: 'number'; text: string; open: boolean }
  | { readonly kind: 'word'; text: string; open: boolean }
  | { readonly kind: 'list'; readonly items: PartialValue[]; open: boolean }
  | { readonly kind: 'members'; readonly members: PartialMember[]; open: boolean };

export interface PartialMember {
  name: string;
  /** Null until the value starts. */
  value: PartialValue | null;
}

export function completeValue(json: unknown): PartialValue {
  const open = false;
  if (typeof json === 'string') return { kind: 'text', text: json, open };
  if (typeof json === 'number') return { kind: 'number', text: String(json), open };
  if (Array.isArray(json)) return { kind: 'list', items: json.map(completeValue), open };
  if (typeof json !== 'object' || json === null) return { kind: 'word', text: String(json), open };
  const members = Object.entries(json).map(([name, value]) => ({ name, value: completeValue(value) }));
  return { kind: 'members', members, open };
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const MAX_DEPTH = 200;

type Open = Extract<PartialValue, { readonly kind: 'list' | 'members' }>;
type State = 'prose' | 'value' | 'item' | 'key' | 'name' | 'colon' | 'comma' | 'text' | 'escape' | 'bare' | 'over';

/**
 * Reads the JSON object in a text that arrives in chunks, to show its progress. It skips prose before the object and is lenient: the
 * engine validates, this only displays. Chunk boundaries do not matter, and each character is read once.
 */
export class PartialJsonReader {
  #root: Open | null = null;
  #state: State = 'prose';
  readonly #nest: Open[] = [];
  #text: { text: string; open: boolean } | null = null;
  #member: PartialMember | null = null;
  #isName = false;
  #hex: string | null = null;
  #bracket = '';

  /** The object; null until it starts. */
  get root(): PartialValue | null {
    return this.#root;
  }

  push(piece: string): void {
    for (let at = 0; at < piece.length && this.#state !== 'over'; ) {
      if (this.#state === 'text') at = this.#readText(piece, at);
      else {
        const character = piece.charAt(at);
        // The character that ends a number or word belongs to what follows.
        if (this.#state === 'bare' && /[\s,\]}]/u.test(character)) this.#endValue();
        else {
          this.#take(character);
          at += 1;
        }
      }
    }
  }

  #readText(piece: string, from: number): number {
    let end = from;
    while (end < piece.length && piece.charAt(end) !== '"' && piece.charAt(end) !== '\\') end += 1;
    this.#add(piece.slice(from, end));
    if (end === piece.length) return end;
    if (piece.charAt(end) === '\\') this.#state = 'escape';
    else this.#endText();
    return end + 1;
  }

  #take(character: string): void {
    if (this.#state === 'prose') this.#seek(character);
    else if (this.#state === 'escape') this.#takeEscape(character);
    else if (this.#state === 'bare') this.#add(character);
    else if (!/\s/u.test(character)) this.#takeBetween(character);
  }

  /** An object starts with a brace followed by a quote or a closing brace; other braces are prose. */
  #seek(character: string): void {
    if (/\s/u.test(character)) return;
    if (this.#bracket === '{' && (character === '"' || character === '}')) {
      this.#state = 'value';
      this.#takeBetween('{');
      this.#takeBetween(character);
    } else this.#bracket = character;
  }

  #takeBetween(character: string): void {
    switch (this.#state) {
      case 'key':
      case 'name':
        if (character === '"') this.#beginName();
        else if (character === '}') this.#close();
        return;
      case 'colon':
        if (character === ':') this.#state = 'value';
        return;
      case 'comma':
        if (character === ',') this.#state = this.#nest.at(-1)?.kind === 'list' ? 'value' : 'name';
        else if (character === ']' || character === '}') this.#close();
        return;
      default:
        if (character === ']' || character === '}') this.#close();
        else this.#begin(character);
    }
  }

  #begin(character: string): void {
    if (character === '{') this.#open({ kind: 'members', members: [], open: true });
    else if (character === '[') this.#open({ kind: 'list', items: [], open: true });
    else {
      const isText = character === '"';
      const kind = isText ? 'text' : /[-\d]/u.test(character) ? 'number' : 'word';
      const value = { kind, text: isText ? '' : character, open: true } as const satisfies PartialValue;
      this.#put(value);
      this.#text = value;
      this.#isName = false;
      this.#state = isText ? 'text' : 'bare';
    }
  }

  #beginName(): void {
    const member: PartialMember = { name: '', value: null };
    const within = this.#nest.at(-1);
    if (within?.kind === 'members') within.members.push(member);
    this.#member = member;
    this.#isName = true;
    this.#state = 'text';
  }

  #open(value: Open): void {
    if (this.#nest.length >= MAX_DEPTH) {
      this.#state = 'over';
      return;
    }
    this.#put(value);
    this.#root ??= value;
    this.#nest.push(value);
    this.#state = value.kind === 'list' ? 'item' : 'key';
  }

  #put(value: PartialValue): void {
    const within = this.#nest.at(-1);
    if (within?.kind === 'list') within.items.push(value);
    else if (this.#member !== null) this.#member.value = value;
  }

  #add(text: string): void {
    if (this.#isName && this.#member !== null) this.#member.name += text;
    else if (this.#text !== null) this.#text.text += text;
  }

  #takeEscape(character: string): void {
    if (this.#hex !== null) {
      this.#hex += character;
      if (this.#hex.length < 4) return;
      this.#add(String.fromCharCode(Number.parseInt(this.#hex, 16)));
      this.#hex = null;
    } else if (character === 'u') {
      this.#hex = '';
      return;
    } else this.#add(ESCAPES[character] ?? character);
    this.#state = 'text';
  }

  #endText(): void {
    if (this.#isName) this.#state = 'colon';
    else this.#endValue();
  }

  #endValue(): void {
    if (this.#text !== null) this.#text.open = false;
    this.#text = null;
    this.#state = 'comma';
  }

  #close(): void {
    const closed = this.#nest.pop();
    if (closed !== undefined) closed.open = false;
    this.#state = this.#nest.length === 0 ? 'over' : 'comma';
  }
}
