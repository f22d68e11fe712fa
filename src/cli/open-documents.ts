import { PostChainError } from '../../machines/contracts/error.ts';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import type { Document } from '../documents/document.ts';

export interface OpenedDocuments {
  readonly source: PassageSource;
  readonly documents: readonly Document[];
  readonly files: number;
  readonly skipped: readonly { readonly path: string; readonly reason: string }[];
}

/** Reads the documents of a run. Throws `invalid_path` for one that is not there or cannot be read, and where there are none. */
export async function openDocuments(paths: readonly string[]): Promise<OpenedDocuments> {
  const [{ loadDocuments }, { createPassageIndex }] = await Promise.all([
    import('../documents/load-documents.ts'),
    import('../documents/passage-index.ts'),
  ]);
  const { documents, skipped } = await loadDocuments(paths);
  if (documents.length === 0)
    throw new PostChainError(
      'invalid_path',
      `Nothing in ${paths.join(', ')} can be read as a document (${skipped.length} skipped): wanted Markdown, text, HTML or JSON (.md .txt .html .json).`,
    );
  return { source: createPassageIndex(documents), documents, files: documents.length, skipped };
}
