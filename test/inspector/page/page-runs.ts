import type { JournalEntry, JournalStore } from '../../../machines/contracts/journal.ts';

import type { ChatModel } from '../../../machines/contracts/model.ts';
import { loadDocuments } from '../../../src/documents/load-documents.ts';
import { createPassageIndex } from '../../../src/documents/passage-index.ts';
import type { Run } from '../../../src/engine/runtime/run.ts';
import { createPostChain } from '../../../src/index.ts';
import { memoryJournals } from '../../../src/journal/memory-journals.ts';
import { extractiveModel } from '../../../src/models/extractive/extractive-model.ts';
import { type PausableModel, pausableModel } from '../../support/scripted-models.ts';

const { documents } = await loadDocuments(['docs']);
const index = createPassageIndex(documents);

/** The run of the README, of the offline model over the documentation; it waits for the test in the calls with these numbers. */
export function readmeRun(
  held: readonly number[] = [],
  runId = 'readme',
): { readonly run: Run; readonly model: PausableModel } {
  const model = pausableModel(extractiveModel(), held);
  return { run: readmeRunOn(model, runId), model };
}

function readmeRunOn(model: ChatModel, runId: string): Run {
  const chain = createPostChain({ model, documents: index, journals: memoryJournals(), newId: () => runId });
  return chain.run({ request: 'What does the Yield phase decide, and in which order?' });
}

/** These runs, as a store would have them. */
export function storeOf(runs: readonly (readonly JournalEntry[])[]): JournalStore {
  const starts = runs.flatMap(([start]) => (start?.type === 'run-start' ? [start] : []));
  return {
    ...memoryJournals(),
    list: async () =>
      starts.map(({ runId, request, startedAt }) => ({
        runId,
        request,
        startedAt,
        status: 'completed',
        forkedFrom: null,
      })),
    async *read(runId) {
      yield* runs.find(([start]) => start?.type === 'run-start' && start.runId === runId) ?? [];
    },
  };
}
