import { type Failure, failureSchema } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { type TokenUsage, tokenUsageSchema } from '../../../machines/contracts/usage.ts';
import { failureOf, unexpectedFailure } from '../../../machines/policies/failures.ts';
import { clippedLine, firstChars } from '../../../machines/text/clip.ts';
import type { TakeTurn } from '../../durable/turns.ts';
import { nextTurn } from '../../internal/async.ts';
import { Repetition } from './repetition.ts';

/** A part with content, unlike the last part of a stream. */
export type DeltaPart = Exclude<ModelPart, { readonly type: 'finish' } | { readonly type: 'failure' }>;

/** How a stream ended; all fields are null while it has not. */
export interface StreamEnd {
  readonly reason: FinishReason | null;
  readonly usage: TokenUsage | null;
  readonly failure: Failure | null;
}

export interface PartSourceOptions {
  /** Records a part and returns whether its characters belong to the reply. Called once per part, in order. */
  readonly claim: (part: DeltaPart) => boolean;
  readonly maxChars: number;
  readonly takeTurn: TakeTurn;
  /** Receives a function that stops reading: cheaper per call than a listener on a signal. */
  readonly onStoppable: (stop: () => void) => void;
}

const PARTS_A_TURN = 500;

/**
 * Reads the reply's text from a model's stream, chunk by chunk, and how the stream ended.
 *
 * - It never throws: a stream that throws, or yields an invalid part, has failed.
 * - It ends at the first `finish` or `failure`, at too many characters of any kind, when they repeat themselves, and on abort, even if the
 *   stream ignores its signal.
 * - However fast parts arrive, the event loop gets its turn, so that deadlines and cancellation work.
 * - Content that is not part of the reply is only counted.
 */
export class PartSource {
  readonly #open: () => AsyncIterable<ModelPart>;
  readonly #claim: (part: DeltaPart) => boolean;
  readonly #maxChars: number;
  #iterator: AsyncIterator<ModelPart> | null = null;
  #receive: ((chunk: string | null) => void) | null = null;
  readonly #text = new GrowingText();
  #repetition = new Repetition();
  /** The tool call whose arguments came last; null after text. */
  #call: number | null = null;
  #half = '';
  #end: StreamEnd = { reason: null, usage: null, failure: null };
  #isOver = false;
  #parts = 0;
  #chars = 0;
  readonly #takeTurn: TakeTurn;

  constructor(open: () => AsyncIterable<ModelPart>, { claim, maxChars, takeTurn, onStoppable }: PartSourceOptions) {
    this.#open = open;
    this.#takeTurn = takeTurn;
    this.#claim = claim;
    this.#maxChars = maxChars;
    onStoppable(() => {
      this.#isOver = true;
      this.#deliver(null);
    });
  }

  get text(): string {
    return this.#text.text;
  }

  /** The number of characters received, whether part of the reply or not. */
  get chars(): number {
    return this.#chars;
  }

  get end(): StreamEnd {
    return this.#end;
  }

  /** Passes the reply's text in the next part to `receive`: empty if it has none, null at the end. `receive` must not throw. */
  next(receive: (chunk: string | null) => void): void {
    this.#receive = receive;
    this.#parts += 1;
    if (this.#parts % PARTS_A_TURN === 0) nextTurn().then(this.#pull);
    else this.#takeTurn(this.#pull);
  }

  /** Closes the stream without waiting for it. */
  close(): void {
    this.#isOver = true;
    try {
      this.#iterator?.return?.()?.then(undefined, () => {});
    } catch {
      // The stream ended either way.
    }
  }

  readonly #pull = (): void => {
    if (this.#isOver) {
      this.#deliver(null);
      return;
    }
    try {
      this.#iterator ??= iteratorOf(this.#open());
      Promise.resolve(this.#iterator.next()).then(this.#onStep, this.#onError);
    } catch (error) {
      this.#onError(error);
    }
  };

  readonly #onStep = (step: IteratorResult<ModelPart>): void => {
    let chunk: string | null = null;
    try {
      if (!this.#isOver) chunk = this.#readPart(step);
    } catch (error) {
      this.#fail(modelThrew(unexpectedFailure(error).message));
    }
    this.#deliver(chunk);
  };

  readonly #onError = (error: unknown): void => {
    if (!this.#isOver) this.#fail(modelThrew(unexpectedFailure(error).message));
    this.#deliver(null);
  };

  /** Answers each request once: a late answer of a stopped stream is dropped. */
  #deliver(chunk: string | null): void {
    const receive = this.#receive;
    this.#receive = null;
    receive?.(chunk);
  }

  /** Adapters are user code: an invalid part ends the stream as a failure. */
  #readPart(step: IteratorResult<ModelPart>): string | null {
    const part = step.done ? null : step.value;
    this.#isOver = step.done === true || part?.type === 'finish' || part?.type === 'failure';
    if (part?.type === 'finish') this.#end = { reason: part.reason, usage: usageIn(part.usage), failure: null };
    if (part?.type === 'failure') {
      const read = failureSchema.safeParse(part.failure);
      this.#fail(
        read.success ? read.data : modelThrew('the stream of the model yielded an invalid failure'),
        usageIn(part.usage),
      );
    }
    return this.#isOver ? null : this.#readDelta(part as DeltaPart);
  }

  #readDelta(part: DeltaPart): string | null {
    const characters = charactersOf(part);
    if (characters === null) {
      this.#fail(modelThrew('the stream of the model yielded an invalid part'));
      return null;
    }
    const isOwn = this.#claim(part);
    const kept = firstChars(characters, this.#maxChars - this.#chars);
    const isTooLong = characters.length > this.#maxChars - this.#chars;
    this.#chars += isTooLong ? kept.length : characters.length;
    const call = part.type === 'tool-call-delta' ? part.index : null;
    // Several calls may be equal.
    if (call !== this.#call) this.#repetition = new Repetition();
    this.#call = call;
    const repeated = this.#repetition.add(kept);
    if (isTooLong) this.#fail(tooLong(this.#maxChars));
    else if (repeated !== null) this.#fail(repetitive(repeated));
    if (!isOwn) return '';
    // Half of a surrogate pair waits for the other half.
    const text = this.#half + kept;
    this.#half = isTooLong ? '' : characters.slice(kept.length);
    this.#text.add(text);
    return text;
  }

  #fail(failure: Failure, usage: TokenUsage | null = null): void {
    this.#end = { reason: null, usage, failure };
    this.#isOver = true;
  }
}

/** Adapters are user code: an async function instead of an async generator is a common mistake. */
function iteratorOf(parts: AsyncIterable<ModelPart>): AsyncIterator<ModelPart> {
  if (typeof parts?.[Symbol.asyncIterator] === 'function') return parts[Symbol.asyncIterator]();
  throw new TypeError('the stream of the model is not an async iterable; write it as async *stream');
}

/** Returns the characters of a delta, or null for an invalid one. */
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

const usageIn = (usage: unknown): TokenUsage | null => tokenUsageSchema.safeParse(usage).data ?? null;

const tooLong = (maxChars: number): Failure =>
  failureOf('extraction', 'too_long', `The reply is longer than ${maxChars} characters, including its reasoning.`);

const repetitive = (piece: string): Failure =>
  failureOf(
    'extraction',
    'repetitive',
    `The reply was stopped because it repeats “${clippedLine(piece) || '(spaces)'}”.`,
  );

function modelThrew(message: string): Failure {
  return failureOf('unexpected', 'model_threw', message, { retryable: false });
}

const BLOCK_CHARS = 4_096;

/**
 * A text that grows by small pieces. V8 keeps concatenated pieces as a tree, which takes several times the memory of the characters; so
 * pieces are flattened to one string whenever a block is full.
 */
export class GrowingText {
  #blocks = '';
  #tail = '';

  add(piece: string): void {
    this.#tail += piece;
    if (this.#tail.length < BLOCK_CHARS) return;
    // Reading a character flattens the string.
    this.#tail.charCodeAt(0);
    this.#blocks += this.#tail;
    this.#tail = '';
  }

  get text(): string {
    return this.#blocks + this.#tail;
  }
}
