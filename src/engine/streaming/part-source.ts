import { type Failure, failureSchema } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { type TokenUsage, tokenUsageSchema } from '../../../machines/contracts/usage.ts';
import { failureOf, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { nextTurn } from '../../internal/async.ts';
import type { DeltaPart } from './stream-driver.ts';

/** How a stream ended; all null while it has not. */
export interface StreamEnd {
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly failure: Failure | null;
}

export interface PartSourceOptions {
  /** Whether a part's characters are the reply's own. */
  readonly owns: (part: DeltaPart) => boolean;
  readonly maxChars: number;
  /** Told where to stop the reading from outside: an abort. Cheaper for each call than a listener on a signal. */
  readonly onStoppable: (stop: () => void) => void;
}

const PARTS_A_TURN = 500;

/**
 * The reply's own text out of a model's stream, chunk by chunk, and how the stream ended.
 *
 * 1. It never throws: a stream that does, or gives a part that is none, has failed. 2. It ends at the first `finish` or `failure`,
 * at too many characters of any kind, and at an abort, whether the stream listens to that or not. 3. However fast parts come, the
 * event loop gets its turn, so that deadlines and cancels do. 4. Of what is not the reply's own, only the number of characters is kept.
 */
export class PartSource {
  readonly #open: () => AsyncIterable<ModelPart>;
  readonly #owns: (part: DeltaPart) => boolean;
  readonly #limit: CharLimit;
  #iterator: AsyncIterator<ModelPart> | null = null;
  #receive: ((chunk: string | null) => void) | null = null;
  readonly #text = new GrowingText();
  #end: StreamEnd = { reason: null, usage: null, failure: null };
  #isOver = false;
  #parts = 0;

  constructor(open: () => AsyncIterable<ModelPart>, { owns, maxChars, onStoppable }: PartSourceOptions) {
    this.#open = open;
    this.#owns = owns;
    this.#limit = new CharLimit(maxChars);
    onStoppable(() => {
      this.#isOver = true;
      this.#give(null);
    });
  }

  get text(): string {
    return this.#text.text;
  }

  /** All characters that came, the reply's own or not. */
  get chars(): number {
    return this.#limit.chars;
  }

  get end(): StreamEnd {
    return this.#end;
  }

  /** Gives the reply's own text of the next part: empty where that has none, null at the end. `receive` never throws. */
  next(receive: (chunk: string | null) => void): void {
    this.#receive = receive;
    this.#parts += 1;
    if (this.#parts % PARTS_A_TURN === 0) nextTurn().then(this.#pull);
    else this.#pull();
  }

  /** Lets go of the stream, wherever it is, and does not wait for it. */
  close(): void {
    this.#isOver = true;
    try {
      this.#iterator?.return?.()?.then(undefined, () => {});
    } catch {
      // It was to end, and it has.
    }
  }

  readonly #pull = (): void => {
    if (this.#isOver) {
      this.#give(null);
      return;
    }
    try {
      this.#iterator ??= iteratorOf(this.#open());
      Promise.resolve(this.#iterator.next()).then(this.#came, this.#broke);
    } catch (error) {
      this.#broke(error);
    }
  };

  readonly #came = (step: IteratorResult<ModelPart>): void => {
    let chunk: string | null = null;
    try {
      if (!this.#isOver) chunk = this.#take(step);
    } catch (error) {
      this.#fail(brokenContract(unexpectedFailure(error).message));
    }
    this.#give(chunk);
  };

  readonly #broke = (error: unknown): void => {
    if (!this.#isOver) this.#fail(brokenContract(unexpectedFailure(error).message));
    this.#give(null);
  };

  /** Each question is answered once: a stream that ignores its signal is left behind. */
  #give(chunk: string | null): void {
    const receive = this.#receive;
    this.#receive = null;
    receive?.(chunk);
  }

  /** What a step gives. Adapters are the user's code too: what is no part ends the stream as a failure. */
  #take(step: IteratorResult<ModelPart>): string | null {
    const part = step.done ? null : step.value;
    this.#isOver = step.done === true || part?.type === 'finish' || part?.type === 'failure';
    if (part?.type === 'finish') this.#end = { reason: part.reason, usage: usageIn(part.usage), failure: null };
    if (part?.type === 'failure') {
      const read = failureSchema.safeParse(part.failure);
      this.#fail(read.success ? read.data : brokenContract('its failure part holds no failure'), usageIn(part.usage));
    }
    return this.#isOver ? null : this.#takeDelta(part as DeltaPart);
  }

  #takeDelta(part: DeltaPart): string | null {
    const characters = charactersOf(part);
    if (characters === null) {
      this.#fail(brokenContract('it gave something that is no part'));
      return null;
    }
    const isOwn = this.#owns(part);
    const kept = this.#limit.take(characters, isOwn ? 'reply' : part.type);
    if (this.#limit.isPassed) this.#fail(this.#limit.failure());
    if (!isOwn) return '';
    this.#text.add(kept);
    return kept;
  }

  #fail(failure: Failure, usage: TokenUsage | null = null): void {
    this.#end = { reason: null, usage, failure };
    this.#isOver = true;
  }
}

/** Adapters are the user's code: an async function in place of an async generator is a common mistake. */
function iteratorOf(parts: AsyncIterable<ModelPart>): AsyncIterator<ModelPart> {
  if (typeof parts?.[Symbol.asyncIterator] === 'function') return parts[Symbol.asyncIterator]();
  throw new TypeError('its stream method gave no async iterable; make it an async generator (async *stream)');
}

/** The characters of a delta; null where it is none. */
function charactersOf(part: DeltaPart): string | null {
  switch (part?.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return typeof part.text === 'string' ? part.text : null;
    case 'tool-call-delta':
      return typeof part.name === 'string' && Number.isInteger(part.index) && typeof part.arguments === 'string'
        ? part.arguments
        : null;
    default:
      return null;
  }
}

function usageIn(usage: unknown): TokenUsage | null {
  const read = tokenUsageSchema.safeParse(usage);
  return read.success ? read.data : null;
}

function brokenContract(message: string): Failure {
  return failureOf('unexpected', 'model_threw', message, { retryable: false });
}

/** What characters are counted as: the reply's own, or by the part that they came in beside it. */
type CharKind = 'reply' | DeltaPart['type'];

const NAMES: readonly (readonly [CharKind, string])[] = [
  ['reply', 'text of the reply itself'],
  ['reasoning-delta', 'reasoning'],
  ['tool-call-delta', 'other tool calls'],
  ['text-delta', 'text beside the tool call'],
];

/** Counts every character of one stream, whatever it is, against one limit. */
class CharLimit {
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
