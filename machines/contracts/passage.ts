import * as z from 'zod/mini';
import { unitSchema } from './limits.ts';
import { sourceSchema } from './message.ts';

/**
 * A ranked piece of a document. `relevance` is 0..1: the share of the query's weight that the passage covers. `heading`
 * is the path of headings above it, outermost first.
 */
export const passageSchema = z.object({
  id: z.string().check(z.minLength(1)),
  text: z.string().check(z.minLength(1)),
  heading: z.readonly(z.array(z.string())),
  source: sourceSchema,
  relevance: unitSchema,
});
export type Passage = Readonly<z.infer<typeof passageSchema>>;

/** The result of a search. `widened`: the query itself found nothing, so a wider search was tried. */
export const retrievalSchema = z.object({
  query: z.string(),
  passages: z.readonly(z.array(passageSchema)),
  widened: z.boolean(),
});
export type Retrieval = Readonly<z.infer<typeof retrievalSchema>>;

/** At most `limit` passages, none with a relevance below `minRelevance` (0..1). */
export interface SearchOptions {
  readonly limit: number;
  readonly minRelevance: number;
  readonly signal: AbortSignal;
}

/** What Experience searches for: at most `limit` passages, none with a relevance below `minRelevance` (0..1). */
export interface RetrievePassagesInput {
  readonly query: string;
  readonly limit: number;
  readonly minRelevance: number;
}

/**
 * The search interface.
 *
 * Failure contract: a source that cannot be searched rejects; Experience then continues without it and reports it.
 * Finding nothing is not a failure: the source tries a wider search by itself, sets `widened`, and may still return
 * nothing.
 */
export interface PassageSource {
  search(query: string, options: SearchOptions): Promise<Retrieval>;
}
