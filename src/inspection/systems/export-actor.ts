import type { DurableEntry } from '../../durable/entries.ts';
import { withPauses } from '../../internal/async.ts';
import type { ActorPageEntry, InspectedRun, RunCharts, StateFrame } from '../wire.ts';
import { RecordedActor } from './recorded-actor.ts';
import { actorStates, hostOf, type ReplayHost } from './recorded-states.ts';

/** Returns what an exported page shows of a durable actor. A replay with the machine in `hosts`, if any, adds charts and contexts. */
export async function actorPage(
  id: string,
  entries: readonly DurableEntry[],
  hosts: readonly ReplayHost[],
): Promise<readonly ActorPageEntry[]> {
  const nothing = { list: async () => [], async *read() {} };
  const recorded = new RecordedActor(id, nothing, () => {}, { hosts, startedIn: () => undefined });
  const [first] = entries;
  const ends = { first, last: entries, lastSeq: entries.length - 1, isDamaged: false };
  recorded.update({ id, version: '', ends, isWritten: false });
  const { ending, blocked: _, ...info } = recorded.info();
  const host = hostOf(hosts, info.machine, nothing);
  let charts: RunCharts = { charts: [], invoked: {} };
  const frames: StateFrame[] = [];
  const problem = host && (await withPauses(allFrames(entries, host, frames, (all) => (charts = all))));
  const run: InspectedRun = {
    ...info,
    ...(ending === undefined ? { exportedAt: new Date().toISOString() } : { ending }),
    fidelity: [...info.fidelity, ...(problem === null ? [] : [problem])],
  };
  return [
    { type: 'page', seq: 0, run, charts },
    ...entries.map((entry): ActorPageEntry => ({ type: 'page', seq: entry.seq, entry })),
    ...frames.map((frame): ActorPageEntry => ({ type: 'page', seq: frame.seq, frame })),
  ];
}

/** Adds the frames of all states to a list. Returns why they are incomplete; null if they are complete. */
function* allFrames(
  entries: readonly DurableEntry[],
  host: ReplayHost,
  frames: StateFrame[],
  onCharts: (charts: RunCharts) => void,
): Generator<void, string | null> {
  const steps = actorStates(entries, host, onCharts);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    frames.push(...value);
    yield;
  }
}
