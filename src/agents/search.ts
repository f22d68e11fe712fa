import type { PromiseActorLogic } from 'xstate';
import type { PassageSource, Retrieval } from '../../machines/contracts/passage.ts';
import { declareOutcomes } from '../internal/declared-outcomes.ts';
import { promiseActivity } from '../llm/activities.ts';

/** The input of a search. */
export interface SearchInput {
  readonly query: string;
  /** The most passages. Default 5. */
  readonly limit?: number;
  /** The least relevance of a passage, 0 to 1. Default 0. */
  readonly minRelevance?: number;
}

/**
 * Returns an actor that searches documents. It fails if the source cannot be searched; finding nothing is not a failure.
 *
 * @example
 * const lookUp = search(createPassageIndex(documents));
 * invoke: { src: 'lookUp', input: ({ context }) => ({ query: context.question }), onDone: 'answering', onError: 'answering' }
 */
export function search(source: PassageSource): PromiseActorLogic<Retrieval, SearchInput> {
  const logic = promiseActivity<Retrieval, SearchInput>(({ input, signal }) => {
    const { query, limit = 5, minRelevance = 0 } = input;
    return source.search(query, { limit, minRelevance, signal });
  });
  return declareOutcomes(logic, (input) => {
    const query = String((Object(input) as Partial<SearchInput>).query ?? '');
    const passage = { id: 'p1', text: 'text', heading: [], source: { path: 'a.md' }, relevance: 1 };
    return [
      { kind: 'done', name: 'found', output: { query, passages: [passage], widened: false } },
      { kind: 'done', name: 'nothing found', output: { query, passages: [], widened: false } },
      { kind: 'error', name: 'not searched', error: new Error('The documents could not be searched.') },
    ];
  });
}
