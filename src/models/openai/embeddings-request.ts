import type OpenAI from 'openai';
import { z } from 'zod';
import { cut } from './embeddings-batches.ts';
import { embeddingsError, embeddingsFailure, isTextTooLong } from './embeddings-failure.ts';
import type { OpenAISettings } from './options.ts';

/** About 8,000 tokens of English, which is what OpenAI's models take of a text. */
export const LONGEST_CHARS = 30_000;

/** A model that does not take this much, about 128 tokens, is told as failing. */
const SHORTEST_CHARS = 500;

type Send = (texts: readonly string[], signal: AbortSignal) => Promise<readonly (readonly number[])[]>;

/**
 * Sends the texts of one request and gives their vectors. Where the server says that a text is too long for the model, it is asked
 * again with a quarter of that length, and that is remembered. Rejects with the error that tells why there are none.
 */
export function embeddingsRequest(settings: OpenAISettings, client: () => Promise<OpenAI>): Send {
  let longest = LONGEST_CHARS;
  return async (texts, signal) => {
    for (;;) {
      const sent = longest;
      const input = texts.map((text) => cut(text, sent));
      try {
        // Many servers do not know base64, which is the client's own choice.
        const body = { model: settings.model, input, encoding_format: 'float' as const };
        return readEmbeddings(await (await client()).embeddings.create(body, { signal }), texts.length);
      } catch (thrown) {
        const failure = embeddingsFailure(thrown, settings);
        if (!isTextTooLong(failure) || sent <= SHORTEST_CHARS) throw embeddingsError(failure);
        longest = Math.min(longest, Math.floor(sent / 4));
      }
    }
  };
}

type Vector = readonly number[];

/** As much of an entry as is read. Some servers leave the index out: it is then the place in the list. */
const entrySchema = z.object({ index: z.int().min(0).nullish(), embedding: z.custom<Vector>(isVector) });

/**
 * The vectors of a reply to `count` texts, in the order of the texts, which need not be that of the list.
 *
 * @throws ZodError where there is not one vector for each text, or where they have different lengths.
 */
function readEmbeddings(reply: unknown, count: number): readonly Vector[] {
  const { data } = z.object({ data: z.array(entrySchema).length(count) }).parse(reply);
  const byPlace = new Map(data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const vectors = data.map((_, place) => byPlace.get(place));
  return z.array(z.custom<Vector>((vector) => isVector(vector) && vector.length === vectors[0]?.length)).parse(vectors);
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
