const BLOCK_CHARS = 4_096;

/**
 * A text that grows by small pieces. The engine keeps what was added as a tree of pieces, which takes several times the memory of its
 * characters, so pieces are made one flat string whenever a block of them is full.
 */
export class GrowingText {
  #blocks = '';
  #tail = '';

  add(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length < BLOCK_CHARS) return;
    // To look at a character is what makes it flat.
    this.#tail.charCodeAt(0);
    this.#blocks += this.#tail;
    this.#tail = '';
  }

  get text(): string {
    return this.#blocks + this.#tail;
  }
}
