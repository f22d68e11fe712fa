import type { TokenUsage } from './budget.ts';
import type { Failure } from './failure.ts';
import type { Task } from './phase.ts';

export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/**
 * One call of a language model. `turns` is the rendered prompt; `outputSchema` is the JSON Schema that the reply must fit,
 * `schemaName` its name; `input` is the typed input that the prompt was rendered from, for models that are no language model.
 */
export interface ModelRequest {
  readonly task: Task;
  readonly turns: readonly ChatTurn[];
  readonly schemaName: string;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly input: unknown;
}

/** A stream is any number of deltas, then exactly one `finish` or one `failure`, which is the last part. */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: TokenUsage | null }
  | { readonly type: 'failure'; readonly failure: Failure };

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'other';

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
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>;
}
