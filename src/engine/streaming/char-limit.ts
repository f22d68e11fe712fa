import type { Failure } from '../../../machines/contracts/failure.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import type { DeltaPart } from './stream-driver.ts';

/** What characters are counted as: the reply's own, or by the part that they came in beside it. */
export type CharKind = 'reply' | DeltaPart['type'];

const NAMES: readonly (readonly [CharKind, string])[] = [
  ['reply', 'text of the reply itself'],
  ['reasoning-delta', 'reasoning'],
  ['tool-call-delta', 'other tool calls'],
  ['text-delta', 'text beside the tool call'],
];

/** Counts every character of one stream, whatever it is, against one limit. */
export class CharLimit {
  readonly #maxChars: number;
  readonly #counts: Record<CharKind, number> = {
    reply: 0,
    'reasoning-delta': 0,
    'tool-call-delta': 0,
    'text-delta': 0,
  };
  #chars = 0;
  #isPassed = false;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** All characters that came and were within the limit. */
  get chars(): number {
    return this.#chars;
  }

  get isPassed(): boolean {
    return this.#isPassed;
  }

  /** What of these characters is within the limit. */
  take(characters: string, kind: CharKind): string {
    const room = this.#maxChars - this.#chars;
    this.#counts[kind] += characters.length;
    this.#isPassed = characters.length > room;
    const kept = this.#isPassed ? characters.slice(0, room) : characters;
    this.#chars += kept.length;
    return kept;
  }

  /** Says what was too long. */
  failure(): Failure {
    const counted = NAMES.filter(([kind]) => this.#counts[kind] > 0);
    const [most] = counted.toSorted(([a], [b]) => this.#counts[b] - this.#counts[a]);
    const isReplyAlone = counted.every(([kind]) => kind === 'reply');
    const beside = isReplyAlone ? '' : `, counting all that came; most of it is ${most?.[1]}`;
    return failureOf(
      'extraction',
      'too_long',
      `The reply is longer than ${this.#maxChars} characters${beside}; wanted a shorter one.`,
    );
  }
}
