import { BracketBalance } from '../../internal/bracket-balance.ts';

/** Tells of a JSON text that comes in pieces whether it is over. */
export class JsonExtent {
  readonly #brackets = new BracketBalance();
  #begun = false;

  /** `none`: nothing but white space so far. `open`: a string, an object or a list is not closed yet. */
  get state(): 'none' | 'open' | 'closed' {
    if (!this.#begun) return 'none';
    return this.#brackets.isOpen ? 'open' : 'closed';
  }

  add(text: string): void {
    this.#brackets.add(text);
    this.#begun ||= text.trim() !== '';
  }
}
