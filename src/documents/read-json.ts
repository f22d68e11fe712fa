import type { Steps } from '../internal/async.ts';
import { BlockWriter } from './block-writer.ts';
import type { Block } from './document.ts';

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+|\n/g;

/** The heading path has this many keys: the innermost. */
const MAX_PATH = 12;

/** An open object or array, and the current key or index in it. */
interface Open {
  readonly array: boolean;
  key: string;
  items: number;
  expectsKey: boolean;
}

const TOKENS_PER_STEP = 2_000;

/**
 * Returns the blocks of JSON text with `\n` line endings, in steps of 2,000 tokens: one block per object, with a line "key: value" per value and the keys above as
 * the heading path. Throws a SyntaxError if the text is not JSON.
 */
export function* readJson(text: string): Steps<Block[]> {
  JSON.parse(text);
  const reader = new JsonReader();
  let [line, tokens] = [1, 0];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') line += 1;
    else reader.token(token, line);
    tokens += 1;
    if (tokens % TOKENS_PER_STEP === 0) yield;
  }
  return reader.finish();
}

class JsonReader {
  readonly #blocks: Block[] = [];
  readonly #open: Open[] = [];
  #writer = new BlockWriter();
  #written = false;

  token(token: string, line: number): void {
    const inside = this.#open.at(-1);
    if (token === '{' || token === '[') {
      this.#flush();
      this.#open.push({ array: token === '[', key: '', items: 0, expectsKey: token === '{' });
    } else if (token === '}' || token === ']') {
      this.#flush();
      this.#open.pop();
    } else if (token === ',') {
      if (inside !== undefined) {
        inside.items += 1;
        inside.expectsKey = !inside.array;
      }
    } else if (token !== ':') {
      const value = token.startsWith('"') ? String(JSON.parse(token)) : token;
      if (inside?.expectsKey) {
        inside.key = value;
        inside.expectsKey = false;
      } else this.#write(inside, value, line);
    }
  }

  finish(): Block[] {
    this.#flush();
    return this.#blocks;
  }

  #write(inside: Open | undefined, value: string, line: number): void {
    const key = inside === undefined || inside.array ? '' : `${inside.key}: `;
    this.#written = true;
    this.#writer.breakLine(line);
    for (const part of `${inside === undefined ? '' : '- '}${key}${value}`.split(/\r?\n/)) {
      this.#writer.breakLine(line);
      this.#writer.writeWithin(part, line);
    }
  }

  #flush(): void {
    if (!this.#written) return;
    this.#written = false;
    const path = this.#open.slice(-MAX_PATH - 1, -1).map(({ array, key, items }) => (array ? `${items + 1}` : key));
    const block = this.#writer.finish(path, 'list');
    if (block !== null) this.#blocks.push(block);
    this.#writer = new BlockWriter();
  }
}
