import * as z from 'zod/mini';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import { lineRange } from '../../machines/policies/message-parts.ts';
import { zodJsonSchema } from '../internal/zod-json-schema.ts';
import { type Capability, defineCapability } from './capability.ts';

const args = z.object({
  query: z.string().check(z.minLength(1)),
  limit: z._default(z.int().check(z.gte(1), z.lte(20)), 5),
});

/** Returns a capability that lets the model search the documents with its own query, in addition to the search of Experience. */
export function searchDocuments(source: PassageSource): Capability {
  return defineCapability({
    name: 'search_documents',
    description: 'Searches the documents. Returns the best matching passages with file and lines.',
    arguments: args,
    jsonSchema: zodJsonSchema(args),
    async execute({ query, limit }, { signal }) {
      const { passages } = await source.search(query, { limit, minRelevance: 0, signal });
      if (passages.length === 0) return 'Nothing was found.';
      return passages
        .map(({ source, text }) => `${[source.path, lineRange(source)].filter(Boolean).join(':')}\n${text}`)
        .join('\n\n');
    },
  });
}
