import type { Failure } from './failure.ts';
import type { AttachedFile } from './message.ts';
import type { Phase } from './phase.ts';
import type { TokenUsage } from './usage.ts';

/**
 * One turn of a prompt. `files` are the images and files of a user turn. They precede its text, and only a model that accepts
 * them receives them. `cachedChars`: later calls probably begin with the same turns up to this many characters of the content, so
 * a provider that needs markers can be told to cache them.
 *
 * Only a request with `tools` has tool calls: an assistant turn with `toolCalls` is followed by one `tool` turn for each of them, with
 * its result as `content` and the call in `toolResult`.
 */
export interface ChatTurn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly cachedChars?: number;
  readonly files?: readonly AttachedFile[];
  readonly toolCalls?: readonly TurnToolCall[];
  readonly toolResult?: { readonly id: string; readonly name: string; readonly isError: boolean };
}

/** A turn of text. */
export interface TextTurn extends ChatTurn {
  readonly role: Exclude<ChatTurn['role'], 'tool'>;
}

/** A tool call that a model made earlier. `arguments` is the JSON text of an object. */
interface TurnToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * How the model replies in JSON: in its text, as the arguments of one tool call, or in its text without a schema in the request (OpenAI's
 * `json_object`).
 */
export const REPLY_FORMS = ['text', 'tool-call', 'json-object'] as const;
export type ReplyForm = (typeof REPLY_FORMS)[number];

/** A tool that a model may call instead of replying. `parameters` is the JSON Schema of its arguments, an object. */
export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/**
 * One call of a language model. `turns` is the rendered prompt. `outputSchema` is the JSON Schema of the reply, an
 * object at its root; `schemaName` names it (and the tool, if the reply is a tool call). In the form `prose`, the reply is the text of the
 * model, and the schema is empty. `input` is the typed input of the prompt, for models that do not read prompts. `task` is the purpose of
 * the call, for example a phase of the chain. `phases` are the phases that a brief reply is for, in order.
 *
 * `tools` are offered beside the reply, only to a model with `nativeTools`, and never as an empty list: in any reply
 * form, a call of one of them replaces the reply. `turnsWithoutTools` is the same prompt with the tools described as
 * text, for a server that rejects tools.
 */
export interface ModelRequest {
  readonly task: string;
  readonly phases?: readonly Phase[];
  readonly turns: readonly ChatTurn[];
  readonly schemaName: string;
  readonly outputSchema: Readonly<Record<string, unknown>>;
  readonly replyForm: ReplyForm | 'prose';
  readonly input: unknown;
  readonly tools?: readonly ToolOffer[];
  readonly turnsWithoutTools?: readonly ChatTurn[];
}

/**
 * A stream is any number of deltas, then exactly one `finish` or `failure`.
 *
 * A `reasoning-delta` shows that the model is alive and is not part of the reply. The deltas of one tool call share an
 * `index`, from 0 in the order of their starts, and each has its complete `name`; calls may be interleaved. A failed
 * call may have a cost: `usage`, if the provider reported it. `id` is the provider's id of a tool call, if it gave one: the next
 * prompt refers to the call by it.
 */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  | {
      readonly type: 'tool-call-delta';
      readonly index: number;
      readonly id?: string;
      readonly name: string;
      readonly arguments: string;
    }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: TokenUsage | null }
  | { readonly type: 'failure'; readonly failure: Failure; readonly usage?: TokenUsage | null };

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';

/**
 * The language model interface.
 *
 * Failure contract: `stream` never throws and its iterator never rejects; any error is a last `failure` part. When
 * `signal` aborts, the iterator ends soon, with or without a last part, and releases its connection.
 */
export interface ChatModel {
  readonly id: string;
  /** Tokens that prompt and reply may have together. */
  readonly contextWindowTokens: number;
  /** The token limit with which the model is called: its replies, reasoning included, are not longer. Default: `contextWindowTokens`. */
  readonly maxOutputTokens?: number | undefined;
  /** Media types of the files that the model accepts, for example `image/*` and `application/pdf`. Default: text only. */
  readonly accepts?: readonly string[];
  /** Whether the model accepts tools beside a reply; if not, the prompt describes them. */
  readonly nativeTools?: boolean;
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>;
  /**
   * Counts the tokens of each text with the model's own tokenizer, in order, without those of a chat template. May
   * reject: the engine then estimates four characters per token, as it does for a model without this method.
   */
  countTokens?(texts: readonly string[]): Promise<readonly number[]>;
}

/**
 * The embedding interface: turns texts into vectors that are close if the texts mean much the same. Optional: without
 * it, the engine compares words.
 *
 * `embed` returns one vector per text, in order: finite numbers, the same count in each. Vectors need not be
 * normalized.
 *
 * Failure contract: it may reject for any reason; the engine then continues without similarities and reports it. It is
 * never called with a blank text. When `signal` aborts, it rejects soon and releases its connection.
 */
export interface EmbeddingModel {
  readonly id: string;
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly (readonly number[])[]>;
}
