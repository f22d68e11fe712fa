import { z } from 'zod';

type Vector = readonly number[];

/** As much of an entry as is read. Some servers leave the index out: it is then the place in the list. */
const entrySchema = z.object({ index: z.int().min(0).nullish(), embedding: z.custom<Vector>(isVector) });

/**
 * The vectors of a reply to `count` texts, in the order of the texts, which need not be that of the list.
 *
 * @throws ZodError where there is not one vector for each text, or where they have different lengths.
 */
export function readEmbeddings(reply: unknown, count: number): readonly Vector[] {
  const { data } = z.object({ data: z.array(entrySchema).length(count) }).parse(reply);
  const byPlace = new Map(data.map(({ index, embedding }, place) => [index ?? place, embedding]));
  const vectors = data.map((_, place) => byPlace.get(place));
  return z.array(z.custom<Vector>((vector) => isVector(vector) && vector.length === vectors[0]?.length)).parse(vectors);
}

function isVector(value: unknown): value is Vector {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isFinite);
}
