import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../../../machines/contracts/context.ts';

import type { Message } from '../../../machines/contracts/message.ts';
import type { ChatModel, EmbeddingModel } from '../../../machines/contracts/model.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { estimateTokens } from '../../../machines/policies/usage.ts';
import { createEmbedder, embedTexts, similarityOf, type UnitVector } from '../../documents/embeddings.ts';
import { redactSecrets } from '../../internal/secrets.ts';

type ContextMeasurer = (input: MeasureContextInput, signal: AbortSignal) => Promise<ContextMeasures>;
type AnswerComparer = (answers: CompareAnswersInput, signal: AbortSignal) => Promise<number | null>;

/**
 * Returns a function that counts the tokens of a context's messages with the model's tokenizer and, with an embedding model, measures
 * how similar each is to the request. Create one per run: it caches, so that one more message costs one more count and one more vector.
 *
 * If the tokenizer fails, tokens are estimated; if the embedding fails, there are no similarities; `failure` gives the reason. The
 * function rejects only when the signal aborts.
 */
export function createContextMeasurer(model: ChatModel, embeddings: EmbeddingModel | null): ContextMeasurer {
  const count = tokenCounter(model);
  const compare = embeddings === null ? null : requestComparer(embeddings);
  return async ({ request, messages }, signal) => {
    const [tokens, similarity] = await Promise.all([
      settled(count?.(messages)),
      settled(compare?.(request, messages, signal)),
    ]);
    signal.throwIfAborted();
    const failures = [
      tokens.failure === null ? [] : `tokens are estimated: ${tokens.failure}`,
      similarity.failure === null ? [] : `there are no similarities: ${similarity.failure}`,
    ].flat();
    return {
      tokens: tokens.value ?? messages.map(({ content }) => estimateTokens(content)),
      estimated: tokens.value === null,
      similarity: similarity.value,
      failure: failures.length === 0 ? null : failures.join('; '),
    };
  };
}

/**
 * Returns a function that measures how much an answer changed from the previous one: one minus their similarity, or null without
 * embeddings or when they fail. It caches the last two answers, so that the next comparison costs one vector. The function rejects
 * only when the signal aborts.
 */
export function createAnswerComparer(embeddings: EmbeddingModel | null): AnswerComparer {
  if (embeddings === null) return async () => null;
  const embed = createEmbedder(embeddings);
  const change = async ({ previous, current }: CompareAnswersInput, signal: AbortSignal): Promise<number> => {
    const [before, now] = await embed([previous, current], signal);
    return before === undefined || now === undefined ? 1 : 1 - similarityOf(before, now);
  };
  return async (answers, signal) => {
    if (answers.previous.trim() === answers.current.trim()) return 0;
    const { value } = await settled(change(answers, signal));
    signal.throwIfAborted();
    return value;
  };
}

function tokenCounter(model: ChatModel): ((messages: readonly Message[]) => Promise<readonly number[]>) | null {
  if (model.countTokens === undefined) return null;
  const cached = createMessageCache<number>();
  return (messages) =>
    cached(messages, async (contents) => {
      const counts: unknown = await model.countTokens?.(contents);
      if (Array.isArray(counts) && counts.length === contents.length && counts.every(isCount)) return counts;
      throw new TypeError(`the model ${model.id} did not return ${contents.length} token counts`);
    });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function requestComparer(model: EmbeddingModel) {
  const embedRequest = createEmbedder(model);
  const cached = createMessageCache<UnitVector>();
  return async (request: string, messages: readonly Message[], signal: AbortSignal): Promise<readonly number[]> => {
    const [[requestVector], vectors] = await Promise.all([
      embedRequest([request], signal),
      cached(messages, (contents) => embedTexts(model, contents, signal)),
    ]);
    return vectors.map((vector) => (requestVector === undefined ? 0 : similarityOf(requestVector, vector)));
  };
}

interface Settled<Value> {
  readonly value: Value | null;
  readonly failure: string | null;
}

async function settled<Value>(work: Promise<Value> | undefined): Promise<Settled<Value>> {
  try {
    return { value: (await work) ?? null, failure: null };
  } catch (error) {
    return { value: null, failure: redactSecrets(unexpectedFailure(error).message, []) };
  }
}

/** Returns a value for each message's content, in order. `compute` gets the contents without a value, each once. */
type MessageCache<Value> = (
  messages: readonly Message[],
  compute: (contents: readonly string[]) => Promise<readonly Value[]>,
) => Promise<readonly Value[]>;

/**
 * Caches values computed from messages. Messages are immutable, so a value lives as long as its message, for example for an undo; the
 * next version of a message with the same content inherits the value from the previous call. If `compute` rejects, nothing is cached.
 */
export function createMessageCache<Value>(): MessageCache<Value> {
  const known = new WeakMap<Message, Value>();
  let previous = new Map<string, Value>();

  const inherit = (messages: readonly Message[], from: ReadonlyMap<string, Value>): void => {
    for (const message of messages) {
      const value = known.has(message) ? undefined : from.get(message.content);
      if (value !== undefined) known.set(message, value);
    }
  };

  return async (messages, compute) => {
    inherit(messages, previous);
    const unknown = messages.filter((message) => !known.has(message));
    if (unknown.length > 0) {
      const contents = [...new Set(unknown.map(({ content }) => content))];
      const values = await compute(contents);
      inherit(unknown, new Map(contents.map((content, at) => [content, values[at] as Value])));
    }
    const all = messages.map((message) => known.get(message) as Value);
    previous = new Map(messages.map(({ content }, at) => [content, all[at] as Value]));
    return all;
  };
}
