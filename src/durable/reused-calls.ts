import type { Activity } from './actor-system.ts';
import type { Json } from './codec.ts';
import { type DurableEntry, type DurableEvent, withdrawnIn } from './entries.ts';

type CallStart = Extract<DurableEntry, { type: 'activity-start' }>;
export type ReusableEvent = Extract<DurableEvent, { type: 'activity-event' | 'note' }>;

/** What is known about a call before it is made. */
export interface CallInfo {
  readonly activity: number;
  readonly source: string;
  readonly subject: Json;
}

/** The recorded results of another journal, which replace identical calls. */
export interface ReuseOptions {
  readonly entries: readonly DurableEntry[];
  /** The first entry that the actor does not share with that journal. */
  readonly from: number;
  /**
   * Calls with the same key are the same request; null for one that is not reused. `events` is what a recorded call reported, in order; null
   * for a call that is about to be made.
   */
  readonly keyOf: (call: CallInfo, events: readonly ReusableEvent[] | null) => string | null;
  /** Receives the calls without a recorded result, which are then not made. By default, they are. */
  readonly onMissing?: (call: CallInfo) => void;
  /** Changes a recorded event before it is delivered to `call`. */
  readonly change?: (recorded: {
    readonly event: ReusableEvent;
    readonly seq: number;
    readonly call: CallInfo;
  }) => ReusableEvent;
}

export interface ReusedCalls {
  /** Returns the events for a call, and forgets them. */
  take(activity: Activity): readonly ReusableEvent[] | undefined;
}

interface RecordedCall {
  readonly start: CallStart;
  readonly events: (ReusableEvent & { readonly seq: number })[];
}

/** The rest of a call that was in flight at the branch point is reused by its number, any later call by its key. */
export function reusedCalls(options: ReuseOptions): ReusedCalls {
  const { entries, from, keyOf, onMissing, change = ({ event }) => event } = options;
  const queues = new Map<string, RecordedCall[]>();
  for (const call of recordedCalls(entries)) {
    if ((call.events.at(-1)?.seq ?? 0) < from) continue;
    const { activity, source, subject = null } = call.start;
    const key = keyOf({ activity, source, subject }, call.events);
    if (key === null) continue;
    const queue = queues.get(key) ?? [];
    queue.push(call);
    queues.set(key, queue);
  }
  return {
    take({ number, path, source, subject, actor: copier }) {
      const call = { activity: number, source, subject };
      const key = keyOf(call, null);
      const recorded = key === null ? undefined : queues.get(key)?.shift();
      if (recorded === undefined) {
        onMissing?.(call);
        return onMissing && [];
      }
      const isInFlight = recorded.start.activity === number && recorded.start.seq < from;
      const { actor } = recorded.start;
      const places = new Map([
        [actor, path],
        [parentOf(actor), parentOf(path)],
      ]);
      return recorded.events
        .filter(({ seq }) => !isInFlight || seq >= from)
        .map(({ seq, ...recordedEvent }): ReusableEvent => {
          const event = change({ event: recordedEvent as ReusableEvent, seq, call });
          if (event.type === 'note')
            return {
              ...event,
              activity: number,
              // The journal of the actor may get other notes before this one is added to it.
              get note() {
                return copiedNote(event.note, copier, { entries, seq });
              },
            };
          return { ...event, activity: number, actor: places.get(event.actor) ?? event.actor };
        });
    },
  };
}

/** Where a note is in its journal. */
export interface NoteSource {
  readonly entries: readonly DurableEntry[];
  readonly seq: number;
}

/** The logic of calls whose notes refer to earlier ones. `copyNote` returns a note of another journal as one of the call's own. */
interface NoteCopier {
  readonly copyNote?: (note: Json, call: { readonly self: object }, from: NoteSource) => Json;
}

/** Returns a note of another journal as a note of the call. */
export const copiedNote = (note: Json, { ref: self, logic }: Activity['actor'], from: NoteSource): Json =>
  (logic as NoteCopier).copyNote?.(note, { self }, from) ?? note;

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

function recordedCalls(entries: readonly DurableEntry[]): readonly RecordedCall[] {
  const calls = new Map<number, RecordedCall>();
  const isWithdrawn = withdrawnIn(entries);
  for (const entry of entries) {
    if (isWithdrawn(entry)) continue;
    if (entry.type === 'activity-start') calls.set(entry.activity, { start: entry, events: [] });
    if (entry.type !== 'activity-event' && entry.type !== 'note') continue;
    const { atMs: _, ...event } = entry;
    calls.get(entry.activity ?? -1)?.events.push(event);
  }
  return [...calls.values()];
}
