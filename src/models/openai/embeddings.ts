import type { EmbeddingModel } from '../../../machines/contracts/model.ts';
import { lazyClient } from './client.ts';
import { embeddingBatches } from './embeddings-batches.ts';
import { embeddingsCancelled } from './embeddings-failure.ts';
import { embeddingsSettings, type OpenAIEmbeddingsOptions } from './embeddings-options.ts';
import { embeddingsRequest, LONGEST_CHARS } from './embeddings-request.ts';
import { linkedSignal } from './linked-signal.ts';

type Vector = readonly number[];

/**
 * An embedding model behind OpenAI's `/embeddings`: OpenAI, or any server that speaks the same (Ollama, llama.cpp, vLLM …).
 *
 * 1. Texts go out in batches, one after the other, and of each at most its first 30,000 characters, or fewer where the server says
 *    that the model takes no more. A blank text is not sent; its vector is of zeros.
 * 2. Nothing else is tried again, as the engine goes on without. `embed` rejects with a PostChainError whose `cause` is a failure by
 *    the same codes as a model's (`unauthorized`, `rate_limited` …). No message holds the key.
 * 3. An abort closes the connection and rejects with `cancelled`; no listener stays on the caller's signal.
 *
 * @throws PostChainError `invalid_key` or `invalid_option`, here and nowhere later.
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
      const { signal, release } = linkedSignal(caller);
      const vectors = new Map<number, Vector>();
      try {
        for (const batch of embeddingBatches(texts, LONGEST_CHARS)) {
          const made = await request(batch.texts, signal);
          for (const [at, place] of batch.places.entries()) vectors.set(place, made[at] ?? []);
        }
      } catch (thrown) {
        throw caller.aborted ? embeddingsCancelled() : thrown;
      } finally {
        release();
      }
      return inOrder(vectors, texts.length);
    },
  };
}

/** With zeros, as many as the others have numbers, in the places of which nothing was sent. */
function inOrder(vectors: ReadonlyMap<number, Vector>, count: number): readonly Vector[] {
  const [first = []] = vectors.values();
  const zeros = first.map(() => 0);
  return Array.from({ length: count }, (_, place) => vectors.get(place) ?? zeros);
}
