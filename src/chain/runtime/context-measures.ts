import type { CompareAnswersInput, ContextMeasures, MeasureContextInput } from '../../../machines/contracts/context.ts';
import type { ChatModel, EmbeddingModel } from '../../../machines/contracts/model.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { estimateTokens } from '../../../machines/policies/usage.ts';
import { embedTexts, similarityOf } from '../../documents/embeddings.ts';
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
    const contents = messages.map(({ content }) => content);
    const [tokens, similarity] = await Promise.all([
      settled(count?.(contents)),
      settled(compare?.(request, contents, signal)),
    ]);
    signal.throwIfAborted();
    const failures = [
      tokens.failure === null ? [] : `tokens are estimated: ${tokens.failure}`,
      similarity.failure === null ? [] : `there are no similarities: ${similarity.failure}`,
    ].flat();
    return {
      tokens: tokens.value ?? contents.map(estimateTokens),
      estimated: tokens.value === null,
      similarity: similarity.value,
      failure: failures.length === 0 ? null : failures.join('; '),
    };
  };
}

/**
 * Returns a function that measures how much an answer changed from the previous one: one minus their similarity, or null without
 * embeddings or when they fail. Create one per run: it caches, so that the next comparison costs one vector. The function rejects only
 * when the signal aborts.
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

type Texts = readonly string[];

function tokenCounter(model: ChatModel): ((texts: Texts) => Promise<readonly number[]>) | null {
  if (model.countTokens === undefined) return null;
  return createTextCache(async (texts) => {
    const counts: unknown = await model.countTokens?.(texts);
    if (Array.isArray(counts) && counts.length === texts.length && counts.every(isCount)) return counts;
    throw new TypeError(`the model ${model.id} did not return ${texts.length} token counts`);
  });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function requestComparer(model: EmbeddingModel) {
  const embed = createEmbedder(model);
  return async (request: string, texts: Texts, signal: AbortSignal): Promise<readonly number[]> => {
    const [[requestVector], vectors] = await Promise.all([embed([request], signal), embed(texts, signal)]);
    return vectors.map((vector) => (requestVector === undefined ? 0 : similarityOf(requestVector, vector)));
  };
}

function createEmbedder(model: EmbeddingModel) {
  return createTextCache((texts: Texts, signal: AbortSignal) => embedTexts(model, texts, signal));
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

/**
 * Returns a function that computes a value per text, in order, and caches it. `compute` gets only new texts, each once. If it rejects,
 * nothing is cached.
 */
function createTextCache<Value, Args extends readonly unknown[]>(
  compute: (texts: Texts, ...args: Args) => Promise<readonly Value[]>,
): (texts: Texts, ...args: Args) => Promise<readonly Value[]> {
  const known = new Map<string, Value>();
  return async (texts, ...args) => {
    const unknown = [...new Set(texts)].filter((text) => !known.has(text));
    if (unknown.length > 0) {
      const values = await compute(unknown, ...args);
      for (const [at, text] of unknown.entries()) known.set(text, values[at] as Value);
    }
    return texts.map((text) => known.get(text) as Value);
  };
}
