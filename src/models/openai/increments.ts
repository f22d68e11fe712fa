import { BracketBalance } from '../../internal/json-text.ts';

/** Chunks that fit both readings are held back until this many have arrived. */
const MOST_HELD = 3;

/** Shorter texts repeat themselves by chance. */
const MIN_GROWN_CHARS = 16;

/**
 * Reads a text whose chunks are its next characters, or, as some gateways send it, the whole text so far.
 *
 * Both readings are possible while each chunk begins with the whole chunk before it. Such chunks are held back until one of them, their
 * number or the end decides: the text grows if the first chunk is JSON that has not ended, or if it grew twice, to 16 characters or more.
 */
export class Increments {
  #reading: 'open' | 'next' | 'whole' = 'open';
  /** The whole text so far, unless chunks are its next characters. */
  #text = '';
  #first = '';
  #held: string[] = [];
  #grown = 0;

  /** Returns the new characters. */
  read(chunk: string): string {
    if (this.#reading === 'next' || chunk === '') return chunk;
    if (this.#reading === 'whole') return this.#grow(chunk);
    if (this.#first === '') {
      this.#first = chunk;
      this.#text = chunk;
      return chunk;
    }
    const grows = chunk.startsWith(this.#text) && (this.#grown > 0 || chunk.length > this.#text.length);
    this.#held.push(chunk);
    if (!grows) return this.#decide('next');
    if (chunk.length > this.#text.length) this.#grown += 1;
    this.#text = chunk;
    return this.#held.length < MOST_HELD ? '' : this.rest();
  }

  /** Decides, and returns the characters that were held back. */
  rest(): string {
    if (this.#held.length === 0) return '';
    const isSure = this.#grown > 1 && this.#text.length >= MIN_GROWN_CHARS;
    return this.#decide(isSure || isUnendedJson(this.#first) ? 'whole' : 'next');
  }

  #decide(reading: 'next' | 'whole'): string {
    const held = this.#held;
    this.#reading = reading;
    this.#held = [];
    if (reading === 'whole') return this.#text.slice(this.#first.length);
    this.#text = '';
    return held.join('');
  }

  #grow(chunk: string): string {
    if (this.#text.startsWith(chunk)) return '';
    const added = chunk.startsWith(this.#text) ? chunk.slice(this.#text.length) : chunk;
    this.#text += added;
    return added;
  }
}

function isUnendedJson(text: string): boolean {
  const balance = new BracketBalance();
  balance.add(text);
  return /^\s*[{[]\s*\S/u.test(text) && balance.isOpen;
}
