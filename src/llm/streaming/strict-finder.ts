import { JsonCandidate } from './json-scanner.ts';
import type { JsonFinder, Miss, Span } from './stream-driver.ts';

/**
 * Accepts a text that is entirely one JSON text, with only whitespace around it: exactly what JSON.parse accepts, except for texts
 * with more than 1,000 open brackets.
 */
export class StrictFinder implements JsonFinder {
  readonly #json = new JsonCandidate({ endsAtBracket: false });
  #chars = 0;
  readonly candidate = 1;
  readonly fallback = null;
  readonly fallbackIfCut = null;
  readonly showsFallback = false;

  get found(): Span | null {
    return this.#json.state === 'whole' ? { from: 0, to: this.#chars } : null;
  }

  get miss(): Miss {
    if (this.#json.grammar.isTooDeep) return 'too-deep';
    return this.#json.state === 'open' ? 'unfinished' : 'none';
  }

  push(chunk: string): string {
    this.#chars += chunk.length;
    if (this.#json.state === 'open') this.#json.read(chunk, 0);
    return this.#json.takeView();
  }

  end(): void {
    this.#json.end();
  }
}
