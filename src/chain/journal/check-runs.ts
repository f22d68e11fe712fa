import { type CheckedActor, checkEach } from '../../durable/check-deploy.ts';
import { entriesOf } from '../../durable/journals/journal-store.ts';
import { type JournalStore, runStartOf } from './journal-format.ts';
import { divergenceText, replay, requireSameChart } from './replay.ts';

const ENDED: ReadonlySet<string> = new Set(['completed', 'degraded', 'cancelled']);

/** Replays every run that has not ended on this version of PostChain, like `checkDeploy`. */
export async function checkRuns(journals: JournalStore): Promise<readonly CheckedActor[]> {
  const runs = (await journals.list()).filter(({ status }) => !ENDED.has(status));
  return checkEach(
    runs.map(({ id, status }) => ({ id, status })),
    async ({ id }) => {
      const entries = await entriesOf(journals.read(id));
      requireSameChart(runStartOf(entries));
      const { divergence } = replay(entries);
      return divergence === null ? null : `${divergenceText(divergence)}. Likely cause: ${divergence.cause}`;
    },
  );
}
