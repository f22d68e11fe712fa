/**
 * The embedding port: texts as vectors that lie close where the texts mean much the same. It is optional: without one, the engine
 * goes by words alone [U1].
 *
 * `embed` gives one vector for each text, in order: finite numbers, as many in each. Vectors need no certain length (norm).
 *
 * Failure contract: it may reject, whatever went wrong; the engine then goes on without similarities and says so. It asks for none
 * of a blank text. When `signal` aborts, it rejects soon and lets go of its connection.
 */
export interface EmbeddingModel {
  readonly id: string;
  embed(texts: readonly string[], options: { readonly signal: AbortSignal }): Promise<readonly (readonly number[])[]>;
}
