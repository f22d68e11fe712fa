import { z } from 'zod';
import { unitSchema } from './limits.ts';
import { sourceSchema } from './message.ts';

/**
 * A ranked piece of a document [C5]. `relevance` is 0..1: the share of the query's weight that the passage covers;
 * `heading` is the path of headings above it, outermost first.
 */
export const passageSchema = z.object({
  id: z.string().min(1),
  text: z.string().min(1),
  heading: z.array(z.string()).readonly(),
  source: sourceSchema,
  relevance: unitSchema,
});
export type Passage = Readonly<z.infer<typeof passageSchema>>;

/** What a retrieval came back with. `widened`: nothing matched as asked, so a wider search was tried. */
export const retrievalSchema = z.object({
  query: z.string(),
  passages: z.array(passageSchema).readonly(),
  widened: z.boolean(),
});
export type Retrieval = Readonly<z.infer<typeof retrievalSchema>>;

/** How to search: at most `limit` passages, none below `minRelevance` (0..1). */
export interface SearchOptions {
  readonly limit: number;
  readonly minRelevance: number;
  readonly signal: AbortSignal;
}

/**
 * The knowledge port: something that can be searched for passages [C5].
 *
 * Failure contract: a dead source rejects; Experience then goes on without it and says so. Nothing found is no failure:
 * the source tries a wider search by itself, says `widened`, and may still come back empty.
 */
export interface PassageSource {
  search(query: string, options: SearchOptions): Promise<Retrieval>;
}
