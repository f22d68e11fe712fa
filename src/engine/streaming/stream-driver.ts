import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';

/** A part with characters in it, as against the last one. */
export type DeltaPart = Exclude<ModelPart, { readonly type: 'finish' } | { readonly type: 'failure' }>;

/** A stretch of the reply's own text: from its first character to behind its last one. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the JSON value in the reply's own text while it comes. It parses nothing: it says where the value stands, and hands out the
 * text of the candidate under way for an incremental parser.
 */
export interface JsonFinder {
  /** Takes the next chunk in; what the parser of the candidate under way is to be given. */
  push(chunk: string): string;
  /** No more will come. */
  end(): void;
  /** Counts up with each candidate: a parser of an earlier one is of no more use. */
  readonly candidate: number;
  /** The value, as soon as that is certain. */
  readonly found: Span | null;
  /** What the value is where nothing better was found; and the same where the text was cut off, so that better may be missing. */
  readonly fallback: Span | null;
  readonly fallbackIfCut: Span | null;
  /** Whether a fallback may have been shown as it came. */
  readonly showsFallback: boolean;
  /** What was amiss where nothing was found. */
  readonly miss: Miss;
}

/** `unfinished`: a candidate has no end. `too-deep`: one had too many open brackets. */
export type Miss = 'none' | 'unfinished' | 'too-deep';

/** A value that was found: JSON can be null too. */
export interface FoundValue {
  readonly value: unknown;
}

/** A call of an offered tool that stands for the reply. It grows while it comes; nothing of it is parsed. */
export interface OfferedCall {
  /** Takes the next chunk of its arguments in. */
  push(chunk: string): void;
  /** The value that it is, as far as it has come. */
  soFar(): unknown;
  /** The value at the end of the stream; null where the output limit cut it off. */
  whole(reason: FinishReason | null): FoundValue | null;
  /** What was said and called, in words. */
  spelled(): string;
}

/** What a reply without a value came to. */
export interface Unfound {
  readonly text: string;
  readonly miss: Miss;
  readonly reason: FinishReason | null;
}

/**
 * How a reply is read out of a model's stream, one way for each reply form [A12]: which characters are the reply's own, and which
 * finder reads them. Two drivers can stand for each other: their replies, partials and failures have the same shape. A driver is
 * made for one stream.
 */
export interface StreamDriver {
  readonly finder: JsonFinder;
  /** Whether the part's characters are the reply's own; otherwise the part only shows that the model is alive. */
  owns(part: DeltaPart): boolean;
  /** The call that the reply is in place of JSON, once that has begun: what is the reply's own is then given to it. */
  readonly call: OfferedCall | null;
  failureOf(unfound: Unfound): Failure;
}
