import { CLOSE, CLOSE_LIST, isSpace } from '../../internal/characters.ts';
import { JsonGrammar } from './json-grammar.ts';
import { isNumeric } from './json-number.ts';

/**
 * A piece of text that may be one JSON text, read chunk by chunk, and what of it an incremental parser is to be given.
 *
 * 1. The parser is given nothing that is no beginning of JSON. 2. It is given a number only once that is whole, and a run of white
 * space outside strings as one character, because it would go over both again with every chunk. 3. Each character is looked at once,
 * those of a number that a chunk ends in once more.
 */
export class JsonCandidate {
  readonly #grammar = new JsonGrammar();
  readonly #endsAtBracket: boolean;
  #state: 'open' | 'whole' | 'broken' = 'open';
  #isAfterSpace = false;
  #number = '';
  #view = '';

  /** `endsAtBracket`: its end is where its first bracket is closed, and otherwise the end of all text. */
  constructor({ endsAtBracket }: { readonly endsAtBracket: boolean }) {
    this.#endsAtBracket = endsAtBracket;
  }

  get state(): 'open' | 'whole' | 'broken' {
    return this.#state;
  }

  /** What was taken of it, for what a broken one is left as. */
  get grammar(): Pick<JsonGrammar, 'depth' | 'isInString' | 'isEscaped' | 'isTooDeep' | 'sawMember'> {
    return this.#grammar;
  }

  /** Reads a chunk from one place on; the place that it came to: the chunk’s end, behind the value, or at what broke it. */
  read(chunk: string, from: number): number {
    const grammar = this.#grammar;
    let kept = from;
    for (let at = grammar.passPlain(chunk, from); at < chunk.length; at = grammar.passPlain(chunk, at + 1)) {
      const code = chunk.charCodeAt(at);
      if (!grammar.take(code)) {
        this.#state = 'broken';
        return at;
      }
      const isGap = isSpace(code) && !grammar.isInString;
      if (isGap && this.#isAfterSpace) {
        this.#give(chunk.slice(kept, at));
        kept = at + 1;
      }
      this.#isAfterSpace = isGap;
      if (this.#endsAtBracket && (code === CLOSE || code === CLOSE_LIST) && grammar.isWhole) {
        this.#state = 'whole';
        this.#give(chunk.slice(kept, at + 1));
        return at + 1;
      }
    }
    this.#giveRest(chunk, kept);
    return chunk.length;
  }

  /** No more will come. */
  end(): void {
    if (this.#state === 'open' && this.#grammar.isWhole) this.#state = 'whole';
  }

  /** What has come since for the parser. */
  takeView(): string {
    const view = this.#view;
    this.#view = '';
    return view;
  }

  #give(json: string): void {
    if (json === '') return;
    this.#view += this.#number === '' ? json : this.#number + json;
    this.#number = '';
  }

  /** All of a chunk, but for the number that it may end in. */
  #giveRest(chunk: string, from: number): void {
    let end = chunk.length;
    if (this.#grammar.isInNumber) {
      while (end > from && isNumeric(chunk.charCodeAt(end - 1))) end -= 1;
      this.#give(chunk.slice(from, end));
      this.#number += chunk.slice(end);
    } else this.#give(from === 0 ? chunk : chunk.slice(from));
  }
}
