import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../../../machines/contracts/context.ts';

import type { Message } from '../../../machines/contracts/message.ts';
import type { ChatModel, EmbeddingModel } from '../../../machines/contracts/model.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { estimateTokens } from '../../../machines/policies/usage.ts';
import { embedTexts } from '../../documents/embeddings/embed-texts.ts';
import { createEmbedder } from '../../documents/embeddings/embedder.ts';
import { similarityOf, type UnitVector } from '../../documents/embeddings/unit-vector.ts';
import { withoutSecrets } from '../../internal/secrets.ts';

/** Rejects only when the signal aborted. */
type ContextMeasurer = (input: MeasureContextInput, signal: AbortSignal) => Promise<ContextMeasures>;

/** How much an answer changed, 0..1, or null where that cannot be told. Rejects only when the signal aborted. */
type AnswerComparer = (answers: CompareAnswersInput, signal: AbortSignal) => Promise<number | null>;

/**
 * Counts the tokens of a context's messages by the model's tokenizer and, where there is an embedding model, tells how similar each
 * is to the request [U10, U1]. Make one for each run: it remembers, so that one more message costs one more count and one more vector.
 *
 * Where the tokenizer fails, tokens are estimated; where the embedding fails, there are no similarities; `failure` says why.
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
      ...told('tokens are estimated', tokens.failure),
      ...told('there are no similarities', similarity.failure),
    ];
    return {
      tokens: tokens.value ?? messages.map(({ content }) => estimateTokens(content)),
      estimated: tokens.value === null,
      similarity: similarity.value,
      failure: failures.length === 0 ? null : failures.join('; '),
    };
  };
}

/**
 * Tells how much an answer changed from the one before: one minus the similarity of the two [Y1]. Null without embeddings, and when
 * they fail. It remembers the last two answers, so that the next comparison costs one vector.
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
  const memo = createMessageMemo<number>();
  return (messages) =>
    memo(messages, async (contents) => {
      const counts: unknown = await model.countTokens?.(contents);
      if (Array.isArray(counts) && counts.length === contents.length && counts.every(isCount)) return counts;
      throw new TypeError(`the model ${model.id} gave no counts of ${contents.length} texts`);
    });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function requestComparer(model: EmbeddingModel) {
  const embedRequest = createEmbedder(model);
  const memo = createMessageMemo<UnitVector>();
  return async (request: string, messages: readonly Message[], signal: AbortSignal): Promise<readonly number[]> => {
    const [[asked], vectors] = await Promise.all([
      embedRequest([request], signal),
      memo(messages, (contents) => embedTexts(model, contents, signal)),
    ]);
    return vectors.map((vector) => (asked === undefined ? 0 : similarityOf(asked, vector)));
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
    return { value: null, failure: withoutSecrets(unexpectedFailure(error).message, []) };
  }
}

function told(what: string, why: string | null): readonly string[] {
  return why === null ? [] : [`${what}: ${why}`];
}

/** What was made of each message's content, in order; `make` gets the contents of which nothing was made yet, each once. */
type MessageMemo<Value> = (
  messages: readonly Message[],
  make: (contents: readonly string[]) => Promise<readonly Value[]>,
) => Promise<readonly Value[]>;

/**
 * Remembers what was made of messages. They are immutable, so it stays with a message as long as that lives, say for an undo; and
 * the next version of one with the same content (tagged, prioritised) takes it over from the call before. Where `make` rejects,
 * nothing is remembered, and the next call makes it again.
 */
export function createMessageMemo<Value>(): MessageMemo<Value> {
  const made = new WeakMap<Message, Value>();
  let before = new Map<string, Value>();

  const takeOver = (messages: readonly Message[], from: ReadonlyMap<string, Value>): void => {
    for (const message of messages) {
      const value = made.has(message) ? undefined : from.get(message.content);
      if (value !== undefined) made.set(message, value);
    }
  };

  return async (messages, make) => {
    takeOver(messages, before);
    const unknown = messages.filter((message) => !made.has(message));
    if (unknown.length > 0) {
      const contents = [...new Set(unknown.map(({ content }) => content))];
      const values = await make(contents);
      takeOver(unknown, new Map(contents.map((content, at) => [content, values[at] as Value])));
    }
    const all = messages.map((message) => made.get(message) as Value);
    before = new Map(messages.map(({ content }, at) => [content, all[at] as Value]));
    return all;
  };
}
