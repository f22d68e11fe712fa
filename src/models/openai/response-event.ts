import * as z from 'zod/mini';
import type { FinishReason } from '../../../machines/contracts/model.ts';
import {
  type ChunkContent,
  countOrNull,
  MAX_CALLS,
  orNull,
  type ReplyChunk,
  type ReplyReader,
  ReportedError,
  type ToolCallEntry,
  textOrEmpty,
  tokenUsage,
  uncheckedList,
} from './reply-chunk.ts';

const listOrEmpty = z.catch(uncheckedList, []);

/** One entry of the output: a message, reasoning or a function call. */
const itemSchema = orNull(
  z.object({
    type: textOrEmpty,
    call_id: textOrEmpty,
    name: textOrEmpty,
    arguments: z.optional(z.unknown()),
    content: listOrEmpty,
    summary: listOrEmpty,
  }),
);
type Item = z.infer<typeof itemSchema>;

const usageSchema = orNull(
  z.pipe(
    z.object({
      input_tokens: z.int().check(z.gte(0)),
      output_tokens: z.int().check(z.gte(0)),
      input_tokens_details: orNull(z.object({ cached_tokens: countOrNull, cache_write_tokens: countOrNull })),
      output_tokens_details: orNull(z.object({ reasoning_tokens: countOrNull })),
    }),
    z.transform(({ input_tokens: input, output_tokens: output, ...usage }) => ({
      input,
      output,
      cached: usage.input_tokens_details?.cached_tokens,
      written: usage.input_tokens_details?.cache_write_tokens,
      reasoning: usage.output_tokens_details?.reasoning_tokens,
    })),
  ),
);

const responseSchema = z.object({
  status: textOrEmpty,
  output: listOrEmpty,
  error: z.optional(z.unknown()),
  incomplete_details: orNull(z.object({ reason: textOrEmpty })),
  usage: usageSchema,
});
type Response = z.infer<typeof responseSchema>;

const eventSchema = z.object({
  type: z.string(),
  output_index: z.catch(z.int().check(z.gte(0)), 0),
  delta: textOrEmpty,
  item: itemSchema,
  response: z.catch(responseSchema, responseSchema.parse({})),
  error: z.optional(z.unknown()),
});

const NOTHING: ReplyChunk = { content: null, reason: null, usage: null, error: null };

/**
 * Returns a reader of the events of one response (https://platform.openai.com/docs/api-reference/responses-streaming). An item whose
 * content did not arrive in deltas counts when it is done, and the output of the whole response only if nothing came before it. Events of
 * unknown types are ignored.
 */
export function responsesReader(): ReplyReader {
  const reader = new ResponseReader();
  return (value) => reader.read(value);
}

class ResponseReader {
  /** The items that had deltas, by their index in the output. */
  readonly #streamed = new Set<number>();
  /** The number of each call, from 0, by its index in the output. An item that is added again is another call. */
  readonly #calls = new Map<number, number>();
  #callCount = 0;
  #hasReply = false;

  read(value: unknown): ReplyChunk {
    // A server that does not stream sends the response without an event.
    if ((value as { object?: unknown }).object === 'response') return this.#end(responseSchema.parse(value));
    const { type, output_index: at, delta, item, response, error } = eventSchema.parse(value);
    switch (type) {
      case 'response.output_text.delta':
        return this.#addDelta(at, { text: delta });
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#addDelta(at, { reasoning: delta });
      case 'response.refusal.delta':
        return this.#addDelta(at, { refusal: delta });
      case 'response.function_call_arguments.delta':
        return this.#addDelta(at, { calls: [this.#callAt(at, '', '', delta)] });
      case 'response.output_item.added':
        return this.#begin(at, item);
      case 'response.output_item.done':
        return this.#complete(at, item);
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#end(response);
      case 'error':
        return { ...NOTHING, error: new ReportedError(error ?? value) };
      default:
        return NOTHING;
    }
  }

  #add(content: Partial<ChunkContent>): ReplyChunk {
    const whole = { text: '', reasoning: '', refusal: '', calls: [], ...content };
    this.#hasReply ||= whole.text + whole.refusal !== '' || whole.calls.length > 0;
    return { ...NOTHING, content: whole };
  }

  #addDelta(at: number, content: Partial<ChunkContent>): ReplyChunk {
    this.#streamed.add(at);
    return this.#add(content);
  }

  #callAt(at: number, id: string, name: string, args: unknown): ToolCallEntry {
    const index = this.#calls.get(at) ?? this.#callCount;
    if (!this.#calls.has(at)) this.#callCount += 1;
    this.#calls.set(at, index);
    return { index, id, function: { name, arguments: args } };
  }

  #begin(at: number, item: Item): ReplyChunk {
    this.#streamed.delete(at);
    this.#calls.delete(at);
    return item?.type === 'function_call'
      ? this.#add({ calls: [this.#callAt(at, item.call_id, item.name, '')] })
      : NOTHING;
  }

  #complete(at: number, item: Item): ReplyChunk {
    const isStreamed = this.#streamed.has(at);
    if (item?.type === 'function_call')
      return this.#add({ calls: [this.#callAt(at, item.call_id, item.name, isStreamed ? '' : item.arguments)] });
    return item && !isStreamed ? this.#add(messageOf([item])) : NOTHING;
  }

  #end(response: Response): ReplyChunk {
    const error = errorOf(response);
    const items = this.#hasReply ? [] : response.output.slice(0, MAX_CALLS).map((item) => itemSchema.parse(item));
    const { reasoning, ...message } = messageOf(items);
    const { content } = this.#add({
      ...message,
      reasoning: this.#streamed.size === 0 ? reasoning : '',
      calls: items.flatMap((item, at) =>
        item?.type === 'function_call' ? [this.#callAt(at, item.call_id, item.name, item.arguments)] : [],
      ),
    });
    return {
      content,
      reason: error === null ? reasonOf(response, this.#callCount > 0) : null,
      usage: tokenUsage(response.usage ?? null),
      error,
    };
  }
}

function messageOf(items: readonly Item[]): Pick<ChunkContent, 'text' | 'reasoning' | 'refusal'> {
  const parts = items.flatMap((item) => [...(item?.summary ?? []), ...(item?.content ?? [])]);
  const all = (type: string, member: 'text' | 'refusal'): string =>
    parts.map((part) => memberOf(part, type, member)).join('');
  return {
    text: all('output_text', 'text'),
    reasoning: all('summary_text', 'text') || all('reasoning_text', 'text'),
    refusal: all('refusal', 'refusal'),
  };
}

function memberOf(part: unknown, type: string, member: 'text' | 'refusal'): string {
  const { type: ownType, [member]: text } = (part ?? {}) as { type?: unknown; text?: unknown; refusal?: unknown };
  return ownType === type && typeof text === 'string' ? text : '';
}

function reasonOf({ status, incomplete_details: incomplete }: Response, hasCalls: boolean): FinishReason {
  if (incomplete?.reason === 'max_output_tokens') return 'length';
  if (incomplete?.reason === 'content_filter') return 'content-filter';
  if (status === 'incomplete') return 'other';
  return hasCalls ? 'tool-calls' : 'stop';
}

function errorOf({ status, error }: Response): Error | null {
  if (error) return new ReportedError(error);
  return /^(failed|cancelled)$/u.test(status) ? new ReportedError(`the response is ${status}`) : null;
}
