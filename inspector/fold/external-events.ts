import type { ExternalEvent, JournalEntry } from '../../machines/contracts/journal.ts';
import type { SystemEntry } from '../../src/inspection/wire.ts';
import { countUpTo } from './sorted.ts';

const TYPES: readonly ExternalEvent['type'][] = ['delivery', 'call-event', 'timer', 'run-stopped'];

export const isExternalEventType = (type: string): type is ExternalEvent['type'] =>
  (TYPES as readonly string[]).includes(type);

export const isExternalEvent = (entry: JournalEntry): entry is JournalEntry & ExternalEvent =>
  isExternalEventType(entry.type);

/** The external events of a run. Charts act only on these, and all effects are recorded before the next one. */
export interface ExternalEvents {
  /** Their sequence numbers, ascending. */
  readonly seqs: readonly number[];
  /** External events without a transition; the latest one is excluded while effects may still follow. */
  readonly quiet: readonly number[];
  /** The step of an entry: from its external event up to, but excluding, the next one. `to` of the last step is Infinity. */
  stepOf(seq: number): { readonly from: number; readonly to: number };
  /** How an observed system records that an event led to no transition; undefined if it did, or if the actor is not a machine. */
  recordedOutcome(seq: number): RecordedOutcome | undefined;
}

type RecordedOutcome = Extract<SystemEntry, { readonly type: 'ignored' | 'actor-end' }>;

export function createExternalEvents(): { readonly externalEvents: ExternalEvents; take(entry: JournalEntry): void } {
  const seqs: number[] = [];
  const quiet: number[] = [];
  const recorded = new Map<number, RecordedOutcome>();
  /** The actor that processes the latest event. */
  let actor: string | null = null;
  let moved = true;

  function takeOutcome(entry: RecordedOutcome): void {
    const latest = seqs.at(-1);
    const isFailure = entry.type === 'actor-end' && entry.status === 'error';
    if (latest !== undefined && entry.actor === actor && (entry.type === 'ignored' || isFailure))
      recorded.set(latest, entry);
  }

  return {
    externalEvents: {
      seqs,
      quiet,
      recordedOutcome: (seq) => recorded.get(seq),
      stepOf(seq) {
        const next = countUpTo(seqs, seq);
        return { from: seqs[next - 1] ?? 0, to: seqs[next] ?? Number.POSITIVE_INFINITY };
      },
    },
    take(entry) {
      if (entry.type === 'transition') moved = true;
      const system = entry as unknown as SystemEntry;
      if (system.type === 'ignored' || system.type === 'actor-end') takeOutcome(system);
      if (!isExternalEvent(entry)) return;
      actor = system.type === 'delivery' ? system.actor : null;
      const before = seqs.at(-1);
      if (!moved && before !== undefined) quiet.push(before);
      moved = false;
      seqs.push(entry.seq);
    },
  };
}
