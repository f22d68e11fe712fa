import type { Failure } from './failure.ts';
import type { TokenUsage } from './usage.ts';

export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** How a reply is wanted: as JSON in its text, or as the arguments of one call of a tool [A12]. */
export const REPLY_FORMS = ['text', 'tool-call'] as const;
export type ReplyForm = (typeof REPLY_FORMS)[number];

/** A tool that a model may call in place of its reply. `parameters` is the JSON Schema of its arguments, an object. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * One call of a language model. `turns` is the rendered prompt; `outputSchema` is the JSON Schema that the reply must fit, an object
 * at its root, and `schemaName` its name: that of the one tool, where the reply is wanted as a tool call. `input` is the typed input
 * that the prompt was rendered from, for models that are no language model; `task` says what it is for, a phase of the chain say.
 *
 * `tools` are offered beside the reply, only to a model with `nativeTools` and never an empty list: a call of one of them, in
 * either reply form, stands for the reply. `turnsWithoutTools` is then the same prompt with the tools told in words, for a server that
 * turns out to take none.
 */
export interface ModelRequest {
  readonly task: string;
  readonly turns: readonly ChatTurn[];
  readonly schemaName: string;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly replyForm: ReplyForm;
  readonly input: unknown;
  readonly tools?: readonly ToolOffer[];
  readonly turnsWithoutTools?: readonly ChatTurn[];
}

/**
 * A stream is any number of deltas, then exactly one `finish` or one `failure`, which is the last part.
 *
 * A `reasoning-delta` is what a model thinks aloud: it shows that the model is alive, and is no part of the reply. The deltas of one
 * tool call have the same `index`, from 0 in the order of their beginnings, and each its whole `name`; calls may be interleaved.
 * A failed call may have cost something too: `usage`, where the provider told it.
 */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | { readonly type: 'tool-call-delta'; readonly index: number; readonly name: string; readonly arguments: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: TokenUsage | null }
  | { readonly type: 'failure'; readonly failure: Failure; readonly usage?: TokenUsage | null };

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';

/**
 * The model port: the one thing that PostChain asks of a language model.
 *
 * Failure contract: `stream` never throws and its iterator never rejects; whatever goes wrong is a last `failure` part.
 * When `signal` aborts, the iterator ends soon, with or without a last part, and lets go of its connection.
 */
export interface ChatModel {
  readonly id: string;
  /** How many tokens prompt and reply may have together. */
  readonly contextWindowTokens: number;
  /** Whether it takes tools beside a reply; else tools are told in words. */
  readonly nativeTools?: boolean;
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>;
  /**
   * The tokens of each text by the model's own tokenizer, in order; what a chat template adds is not in them [U10]. May reject: the
   * engine then estimates, as it does for a model without this, at four characters a token.
   */
  countTokens?(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * The embedding port: texts as vectors that lie close where the texts mean much the same. It is optional: without one, the engine
 * goes by words alone [U1].
 *
 * `embed` gives one vector for each text, in order: finite numbers, as many in each. Vectors need no certain length (norm).
 *
 * Failure contract: it may reject, whatever went wrong; the engine then goes on without similarities and says so. It asks for none
 * of a blank text. When `signal` aborts, it rejects soon and lets go of its connection.
 */
export interface EmbeddingModel {
  readonly id: string;
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly (readonly number[])[]>;
}
