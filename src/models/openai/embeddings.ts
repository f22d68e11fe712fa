import type OpenAI from 'openai';
import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { EmbeddingModel } from '../../../machines/contracts/model.ts';
import { firstChars } from '../../../machines/text/clip.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import { linkSignals } from '../../internal/async.ts';
import { parseOption } from '../../internal/options.ts';
import { lazyClient } from './client.ts';
import { failure, openAIFailure } from './failures.ts';
import { modelOptionsSchema, type OpenAIModelOptions, type OpenAISettings, openaiSettings } from './options.ts';
import { parseServerJson } from './reply-body.ts';

/** How to reach a server with OpenAI's embeddings API. Nothing is required if `OPENAI_API_KEY` is set. */
export interface OpenAIEmbeddingsOptions
  extends Pick<
    OpenAIModelOptions,
    | 'apiKey'
    | 'baseURL'
    | 'organization'
    | 'project'
    | 'headers'
    | 'maxResponseBytes'
    | 'fetch'
    | 'dangerouslyAllowBrowser'
    | 'now'
    | 'clock'
  > {
  /** Default: `text-embedding-3-small`. */
  readonly model?: string;
}

type Vector = readonly number[];

/**
 * Returns an embedding model for OpenAI's `/embeddings` API: OpenAI, or any compatible server (Ollama, llama.cpp, vLLM …).
 *
 * 1. Texts are sent in sequential batches, each cut to its first 30,000 characters, or fewer if the server reports that the model accepts
 *    less. A blank text is not sent; its vector is all zeros.
 * 2. There are no other retries, because the engine continues without embeddings. `embed` rejects with a PostChainError
 *    `embedding_failed`, whose `cause` is a failure with a model's codes (`unauthorized`, `rate_limited` …). No message contains the key.
 * 3. An abort closes the connection and rejects with `cancelled`. No listener stays on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`
 * @example
 * const embeddings = openaiEmbeddings();
 * const local = openaiEmbeddings({ model: 'nomic-embed-text', baseURL: 'http://localhost:11434/v1' });
 */
export function openaiEmbeddings(options: OpenAIEmbeddingsOptions = {}): EmbeddingModel {
  const settings = embeddingsSettings(options);
  const request = embeddingsRequest(settings, lazyClient(settings));
  return {
    id: `openai:${settings.model}`,
    async embed(texts, { signal: caller }) {
      const { signal, abort, forget } = linkSignals(caller);
      const vectors = new Map<number, Vector>();
      try {
        for (const batch of embeddingBatches(texts, LONGEST_CHARS)) {
          const received = await request(batch.texts, signal);
          for (const [at, index] of batch.indices.entries()) vectors.set(index, received[at] ?? []);
        }
      } catch (thrown) {
        throw caller.aborted ? new PostChainError('cancelled', 'no embeddings: the call was canceled') : thrown;
      } finally {
        forget();
        abort();
      }
      return inOrder(vectors, texts.length);
    },
  };
}

/** Returns the vectors in the order of the texts, with zeros for blank texts. */
function inOrder(vectors: ReadonlyMap<number, Vector>, count: number): readonly Vector[] {
  const [first = []] = vectors.values();
  const zeros = first.map(() => 0);
  return Array.from({ length: count }, (_, index) => vectors.get(index) ?? zeros);
}

const embeddingsOptionsSchema = z.partial(
  z.pick(modelOptionsSchema, {
    model: true,
    apiKey: true,
    baseURL: true,
    organization: true,
    project: true,
    headers: true,
    maxResponseBytes: true,
    fetch: true,
    dangerouslyAllowBrowser: true,
    now: true,
    clock: true,
  }),
  { model: true },
);

/** @throws PostChainError `invalid_key` or `invalid_option` */
export function embeddingsSettings(options: OpenAIEmbeddingsOptions): OpenAISettings {
  parseOption(embeddingsOptionsSchema, options, 'options of openaiEmbeddings');
  return openaiSettings({ ...options, model: options.model ?? 'text-embedding-3-small' });
}

/** The limits of one request. OpenAI accepts 2,048 texts and 300,000 tokens, other servers less. */
const MAX_TEXTS = 256;
const MAX_CHARS = 200_000;

interface EmbeddingBatch {
  readonly indices: number[];
  readonly texts: string[];
}

/** Returns the texts that are not blank, each cut to `longest` characters, in batches of at most 256 texts and 200,000 characters. */
function embeddingBatches(texts: readonly string[], longest: number): readonly EmbeddingBatch[] {
  const batches: EmbeddingBatch[] = [];
  let chars = 0;
  for (const [index, whole] of texts.entries()) {
    const text = firstChars(whole, longest);
    if (text.trim() === '') continue;
    let batch = batches.at(-1);
    if (batch === undefined || batch.texts.length === MAX_TEXTS || chars + text.length > MAX_CHARS) {
      batch = { indices: [], texts: [] };
      batches.push(batch);
      chars = 0;
    }
    batch.indices.push(index);
    batch.texts.push(text);
    chars += text.length;
  }
  return batches;
}

/** About 8,000 tokens of English, the limit of OpenAI's models. */
const LONGEST_CHARS = 30_000;

/** About 128 tokens. If the model does not accept this much, the request fails. */
const SHORTEST_CHARS = 500;

type Send = (texts: readonly string[], signal: AbortSignal) => Promise<readonly (readonly number[])[]>;

/**
 * Returns a function that sends the texts of one request and returns their vectors. If the server reports that a text is too long, the
 * request is repeated with a quarter of that length, which is remembered. Rejects with a PostChainError.
 */
function embeddingsRequest(settings: OpenAISettings, client: () => Promise<OpenAI>): Send {
  let longest = LONGEST_CHARS;
  return async (texts, signal) => {
    for (;;) {
      const sent = longest;
      const input = wellFormed(texts.map((text) => firstChars(text, sent)));
      try {
        // The client's default is base64, which many servers do not support.
        const body = { model: settings.model, input, encoding_format: 'float' as const };
        const response = await (await client()).embeddings.create(body, { signal }).asResponse();
        return readEmbeddings(parseServerJson(await response.text(), settings.maxResponseBytes), texts.length);
      } catch (thrown) {
        const failure = embeddingsFailure(thrown, settings);
        if (!isTextTooLong(failure) || sent <= SHORTEST_CHARS)
          throw new PostChainError('embedding_failed', `no embeddings: ${failure.message}`, { cause: failure });
        longest = Math.min(longest, Math.floor(sent / 4));
      }
    }
  };
}

/** The members of an entry that are read. Without an index, which some servers omit, the order of the list counts. */
const entrySchema = z.object({ index: z.nullish(z.int().check(z.gte(0))), embedding: z.custom<Vector>(isVector) });

const entriesSchema = z.array(entrySchema);

/**
 * Returns the vectors of a reply in the order of the texts, which may differ from the order of the list.
 *
 * @throws ZodError unless there is one vector per text, all of the same length.
 */
function readEmbeddings(reply: unknown, count: number): readonly Vector[] {
  // The length is checked first: each of a million wrong entries would be an issue of its own.
  const isComplete = (data: unknown): boolean => Array.isArray(data) && data.length === count;
  const { data } = z
    .object({ data: z.pipe(z.custom<z.input<typeof entriesSchema>>(isComplete), entriesSchema) })
    .parse(reply);
  const byIndex = new Map(data.map(({ index, embedding }, at) => [index ?? at, embedding]));
  const vectors = data.map((_, at) => byIndex.get(at));
  return z.array(z.custom<Vector>((vector) => isVector(vector) && vector.length === vectors[0]?.length)).parse(vectors);
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}

/** The messages of Text Embeddings Inference and llama.cpp. Other servers use the same messages as for prompts. */
const TOO_LONG = /\binput is too large\b|less than \d+ tokens/iu;

function embeddingsFailure(thrown: unknown, settings: OpenAISettings): Failure {
  const thrownFailure = openAIFailure(thrown, settings);
  if (thrownFailure.code !== 'garbled_reply') return thrownFailure;
  const message =
    'the reply does not have one vector per text; check the base URL, and that the model is an embedding model';
  return failure('garbled_reply', message, { retryable: true });
}

function isTextTooLong({ code, message }: Failure): boolean {
  return code === 'prompt_too_long' || TOO_LONG.test(message);
}
