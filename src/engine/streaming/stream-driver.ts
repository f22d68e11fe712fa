import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';

/** A part with content, unlike the last part of a stream. */
export type DeltaPart = Exclude<ModelPart, { readonly type: 'finish' } | { readonly type: 'failure' }>;

/** A range of the reply's text; `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the JSON value in the reply's text while it arrives. It parses nothing: it locates the value, and returns the text of the
 * current candidate for an incremental parser.
 */
export interface JsonFinder {
  /** Reads the next chunk. Returns the text to pass to the current candidate's parser. */
  push(chunk: string): string;
  /** Ends the text. */
  end(): void;
  /** The number of the current candidate; a parser of an earlier one is obsolete. */
  readonly candidate: number;
  /** The value, as soon as it is certain. */
  readonly found: Span | null;
  /** The value if nothing better was found. */
  readonly fallback: Span | null;
  /** The same if the text was cut off, so that something better may be missing. */
  readonly fallbackIfCut: Span | null;
  /** Whether a fallback may have been shown while it arrived. */
  readonly showsFallback: boolean;
  /** Why nothing was found. */
  readonly miss: Miss;
}

/** `unfinished`: a candidate did not end. `too-deep`: one had too many open brackets. */
export type Miss = 'none' | 'unfinished' | 'too-deep';

/** A found value; it may be null. */
export interface FoundValue {
  readonly value: unknown;
}

/** A call of an offered tool instead of a reply. It grows while it arrives and is not parsed. */
export interface OfferedCall {
  /** Adds the next chunk of its arguments. */
  push(chunk: string): void;
  /** Returns the value so far. */
  soFar(): unknown;
  /** Returns the value at the end of the stream, or null if the output limit cut it off. */
  whole(reason: FinishReason | null): FoundValue | null;
  /** Returns the text and the call as one text. */
  describe(): string;
}

/** A reply without a value. */
export interface MissingValue {
  readonly text: string;
  readonly miss: Miss;
  readonly reason: FinishReason | null;
}

/**
 * How a reply is read from a model's stream, for one reply form: which characters belong to the reply, and which finder reads them.
 * Replies, partials and failures have the same shape for every driver. A driver serves one stream.
 */
export interface StreamDriver {
  readonly finder: JsonFinder;
  /** Whether the part's characters belong to the reply; otherwise the part only shows that the model is alive. */
  owns(part: DeltaPart): boolean;
  /** The tool call that replaces the reply, once it has started; it then receives the reply's characters. */
  readonly call: OfferedCall | null;
  failureOf(missing: MissingValue): Failure;
}
