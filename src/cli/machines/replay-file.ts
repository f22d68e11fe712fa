import { PostChainError } from '../../../machines/contracts/error.ts';
import { createDurableMachine } from '../../durable/durable-machine.ts';
import type { DurableEntry } from '../../durable/entries.ts';
import { readJournal } from '../../durable/journals/file-journals.ts';
import { memoryJournals } from '../../durable/journals/memory-journals.ts';
import { differenceText, startOf } from '../../durable/replay.ts';
import { loadChartModule } from '../load-chart-module.ts';
import { stateText } from '../state-text.ts';

/** Replays the journal file of a durable actor on the machine of a file. */
export async function replayFile({ file, journal }: { readonly file: string; readonly journal: string }) {
  const entries: DurableEntry[] = [];
  for await (const entry of readJournal(journal)) entries.push(entry);
  const { actorId, machine: recorded } = startOf(entries);
  const { machine } = await loadChartModule(file, []);
  if (recorded.id !== machine.id)
    throw new PostChainError(
      'invalid_journal',
      `${journal} is the journal of a machine "${recorded.id}"; expected one of "${machine.id}", which ${file} exports`,
    );
  const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
  const steps = host.replaySteps(entries);
  for (let step = steps.next(); ; step = steps.next()) {
    if (!step.done) continue;
    const { divergence, snapshot } = step.value;
    return {
      machine: machine.id,
      actor: actorId,
      entries: entries.length,
      identical: divergence === null,
      ...(divergence !== null && { difference: { ...divergence, text: differenceText(divergence) } }),
      state: stateText(snapshot.value),
      status: snapshot.status,
      context: snapshot.context,
    };
  }
}
