const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * What a model thinks aloud at the beginning of its text, between `<think>` and `</think>`, as DeepSeek's and Qwen's do behind servers
 * that leave it there. It is no part of the reply: JSON in it was weighed, not said.
 */
export class LeadingThought {
  #state: 'unknown' | 'open' | 'over' = 'unknown';
  /** The last characters that may be a part of the next tag. */
  #tail = '';

  /** The place in the next chunk where the reply begins; its length while that is not known. */
  endIn(chunk: string): number {
    if (this.#state === 'over') return 0;
    const known = this.#tail.length;
    const text = this.#tail + chunk;
    if (this.#state === 'unknown') {
      const begun = text.trimStart();
      if (begun.length < OPEN.length && OPEN.startsWith(begun)) {
        this.#tail = begun;
        return chunk.length;
      }
      this.#state = begun.startsWith(OPEN) ? 'open' : 'over';
      if (this.#state === 'over') return 0;
    }
    const end = text.indexOf(CLOSE);
    if (end === -1) {
      this.#tail = text.slice(1 - CLOSE.length);
      return chunk.length;
    }
    this.#state = 'over';
    return end + CLOSE.length - known;
  }
}
