import type { DurableEntry } from '../../durable/entries.ts';
import { withPauses } from '../../internal/async.ts';
import type { InspectedRun, RunCharts, SystemEntry } from '../wire.ts';
import { actorMessages, type ReplayHost } from './actor-messages.ts';
import { recordedActor } from './recorded-actor.ts';
import { observedSystem } from './system-log.ts';

/** What an actor's page contains, as entries whose texts can be redacted: first the actor and its charts, then each row of its log. */
export type ActorPageEntry = { readonly type: 'page'; readonly seq: number } & (
  | { readonly run: InspectedRun; readonly charts: RunCharts }
  | { readonly row: SystemEntry }
);

/** Returns what an exported page shows of a durable actor. A replay with the machine in `hosts`, if any, adds charts and contexts. */
export async function actorPage(
  id: string,
  entries: readonly DurableEntry[],
  hosts: readonly ReplayHost[],
): Promise<readonly ActorPageEntry[]> {
  const nothing = { list: async () => [], async *read() {} };
  const recorded = recordedActor(id, nothing, () => {}, hosts);
  const [first] = entries;
  const ends = { first, last: entries, lastSeq: entries.length - 1, isDamaged: false };
  recorded.update({ id, version: '', ends, isWritten: false });
  const { ending, ...info } = recorded.info();
  const host = hosts.find(({ machineId }) => machineId === info.machine) ?? null;
  const system = observedSystem(id, id, () => {});
  const messages = actorMessages(id, host, system.take);
  await withPauses(messages.take(entries));
  system.end(null);
  const lines: string[] = [];
  await new Promise<void>((resolve) => {
    const take = async (more: readonly string[]): Promise<void> => void lines.push(...more);
    system.follow(0, { lines: take, states: async () => {}, charts: () => {}, end: () => resolve() });
  });
  const run: InspectedRun = {
    ...info,
    ...(ending === undefined ? { exportedAt: new Date().toISOString() } : { ending }),
    fidelity: [...info.fidelity, ...system.info().fidelity, ...(messages.problem === null ? [] : [messages.problem])],
  };
  const rows = lines.map((line) => JSON.parse(line) as SystemEntry);
  return [
    { type: 'page', seq: 0, run, charts: system.charts() },
    ...rows.map((row) => ({ type: 'page' as const, seq: row.seq, row })),
  ];
}
