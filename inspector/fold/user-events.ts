import type { Decision } from '../../machines/contracts/decision.ts';
import { refusalText } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import { type ApprovalAsked, foldApprovals, recommendedDirection } from '../../machines/policies/questions.ts';
import { isExternal } from '../../src/durable/entries.ts';
import type { RunLog } from '../wire/run-log.ts';
import { type EntryIndex, type EntryOf, entriesIn } from './entry-index.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, lastUpTo } from './sorted.ts';

type Question<Type extends 'consent-asked' | 'direction-asked'> = Omit<EntryOf<Type>, 'type'> & {
  readonly askedAt: number;
};

export type AwaitedAnswer =
  | { readonly for: 'approval'; readonly askedAt: number; readonly questions: readonly ApprovalAsked[] }
  | (Question<'consent-asked'> & { readonly for: 'consent' })
  | (Question<'direction-asked'> & {
      readonly for: 'direction';
      /** What the terminal preselects: the proposal, or "finish". */
      readonly recommended: string;
      /** The decision to finish that a rule recommends; null if none does. */
      readonly recommendation: Decision | null;
      /** The latest rejected value; null if none was rejected. */
      readonly rejected: string | null;
    });

/** What the run waits for at an entry; null if nothing. It waits while the chart stays in the asking state. */
export function waitingAt(log: RunLog, { entries, transitions }: RunFold, seq: number): AwaitedAnswer | null {
  const start = log.count > 0 ? log.entry(0) : null;
  if (start?.type !== 'start' || lastUpTo(entries.of('end'), seq) !== undefined) return null;
  const questions = approvalsAt(log, entries, seq);
  if (questions.length > 0)
    return { for: 'approval', askedAt: lastUpTo(entries.of('approval-asked'), seq) ?? 0, questions };
  const since = transitions.positionAt(start.machine.id, seq)?.since ?? 0;
  const consent = lastUpTo(entries.of('consent-asked'), seq) ?? -1;
  const direction = lastUpTo(entries.of('direction-asked'), seq) ?? -1;
  const askedAt = Math.max(consent, direction);
  if (askedAt <= since) return null;
  const entry = log.entry(askedAt);
  if (entry.type === 'consent-asked') return { ...entry, for: 'consent', askedAt };
  if (entry.type !== 'direction-asked') return null;
  const { proposal, recommendation = null } = entry;
  const recommended = recommendedDirection({ proposal, recommendation });
  const rejected = entriesIn(log, entries, 'direction-refused', askedAt, seq).at(-1)?.received ?? null;
  return { ...entry, for: 'direction', askedAt, recommendation, recommended, rejected };
}

/** Returns when the run's time limit ends its phases, in milliseconds since its start; null if no timer is recorded. It keeps running while the run waits for consent or a direction. */
export function runDeadlineMs(log: RunLog, { entries }: RunFold): number | null {
  return entriesIn(log, entries, 'timer-start').findLast(({ event }) => event === 'run.expired')?.dueMs ?? null;
}

function approvalsAt(log: RunLog, entries: EntryIndex, seq: number): readonly ApprovalAsked[] {
  const asked = entries.of('approval-asked');
  if (asked.length === 0) return [];
  return [...asked, ...entries.of('approval-resolved'), ...entries.of('capability-stop')]
    .filter((at) => at <= seq)
    .sort((one, other) => one - other)
    .reduce<readonly ApprovalAsked[]>((pending, at) => foldApprovals(pending, log.entry(at)), []);
}

/** The delivery of an event that was sent when the run had `from` entries; null if it is not recorded yet. */
export function deliveryOf(log: RunLog, { entries }: RunFold, event: unknown, from: number) {
  const deliveries = entries.of('delivery');
  const expected = sorted(event);
  const found = deliveries.slice(countUpTo(deliveries, from - 1)).find((at) => {
    const entry = log.entry(at);
    return entry.type === 'delivery' && sorted(entry.event) === expected;
  });
  return found === undefined ? null : { seq: found, rejection: rejectionAfter(log, found) };
}

/** Returns why an event changed nothing, if an entry of its step, up to `last`, records that. */
export function rejectionAfter(log: RunLog, event: number, last = log.count - 1): string | null {
  for (let seq = event + 1; seq <= last; seq += 1) {
    const entry = log.entry(seq);
    if (isExternal(entry)) return null;
    const rejection = rejectionIn(entry);
    if (rejection !== null) return rejection;
  }
  return null;
}

function rejectionIn(entry: JournalEntry): string | null {
  if (entry.type === 'answer-refused' || entry.type === 'direction-refused') return refusalText(entry);
  return entry.type === 'context-overruled' ? (entry.problem?.replace(/\.$/u, '') ?? null) : null;
}

/** JSON with the members of each object in the order of their names. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inside: unknown) =>
    typeof inside === 'object' && inside !== null && !Array.isArray(inside)
      ? Object.fromEntries(Object.entries(inside).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inside,
  );
}
