import { type CheckedActor, checkEach } from '../../durable/check-deploy.ts';
import type { JournalStore } from '../../durable/journals/journal-store.ts';
import { divergenceText, replay, requireSameChart } from './replay.ts';
import { isRun, readRun } from './run-journal.ts';
import { runStartOf } from './run-start.ts';

/** Replays every run that has not ended on this version of PostChain, like `checkDeploy`. */
export async function checkRuns(journals: JournalStore): Promise<readonly CheckedActor[]> {
  const open = await journals.list({ status: ['running', 'waiting', 'interrupted', 'damaged'] });
  const runs = open.filter(isRun);
  return checkEach(
    runs.map(({ id, status }) => ({ id, status })),
    async ({ id }) => {
      const entries = await readRun(journals.read(id));
      requireSameChart(runStartOf(entries));
      const { divergence } = replay(entries);
      const text = divergence && `${divergenceText(divergence)}. Likely cause: ${divergence.cause}`;
      return { problem: text };
    },
  );
}
