/** Tells of a JSON text that comes in pieces whether it is over. It looks at each character once and checks nothing else. */
export class JsonExtent {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  /** `none`: nothing but white space so far. `open`: a string, an object or a list is not closed yet. */
  get state(): 'none' | 'open' | 'closed' {
    if (!this.#begun) return 'none';
    return this.#depth > 0 || this.#inString ? 'open' : 'closed';
  }

  add(text: string): void {
    for (const character of text) {
      if (this.#inString) this.#withinString(character);
      else if (character === '"') this.#inString = true;
      else if (character === '{' || character === '[') this.#depth += 1;
      else if (character === '}' || character === ']') this.#depth -= 1;
      this.#begun ||= character.trim() !== '';
    }
  }

  #withinString(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (character === '\\') this.#escaped = true;
    else if (character === '"') this.#inString = false;
  }
}
