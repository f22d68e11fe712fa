import { z } from 'zod';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import { type Capability, defineCapability } from './capability.ts';

/** Lets a model search the documents in words of its own, beside the search that Experience does. */
export function searchDocuments(source: PassageSource): Capability {
  return defineCapability({
    name: 'search_documents',
    description: 'Searches the documents and gives the passages that match best, with file and lines.',
    arguments: z.object({ query: z.string().min(1), limit: z.int().min(1).max(20).default(5) }),
    async execute({ query, limit }, { signal }) {
      const { passages } = await source.search(query, { limit, minRelevance: 0, signal });
      if (passages.length === 0) return 'Nothing was found.';
      return passages
        .map(({ source: { path, startLine, endLine }, text }) => `${path}:${startLine}-${endLine}\n${text}`)
        .join('\n\n');
    },
  });
}
