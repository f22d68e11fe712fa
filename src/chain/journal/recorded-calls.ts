import type { ReadReplyInput } from '../../../machines/attempt/actors.ts';
import { callInput, initialAttemptState } from '../../../machines/attempt/state.ts';
import type { CallAheadInput } from '../../../machines/contracts/attempt.ts';
import { type CallEvent, LAST_EVENTS } from '../../../machines/contracts/events.ts';
import type { Annotation, JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import { wideDigest } from '../../../machines/text/hash.ts';
import { type Activity, callSubject } from '../../llm/activities.ts';
import type { ActivityExecutor } from '../runtime/durable-actor.ts';
import type { OpenRun } from '../runtime/run.ts';

export type RecordedEvent =
  | { readonly seq: number; readonly actor: string; readonly event: CallEvent }
  | { readonly seq: number; readonly annotation: CallAnnotation };

type CallAnnotation = Exclude<Annotation, { type: 'resumed' }>;

export interface RecordedCall {
  readonly call: number;
  /** What was called: see `kindOf`. */
  readonly kind: string;
  readonly events: readonly RecordedEvent[];
}

export function recordedCalls(recorded: readonly JournalEntry[]): readonly RecordedCall[] {
  const calls = new Map<number, RecordedCall & { readonly events: RecordedEvent[] }>();
  const byAttempt = new Map<string, RecordedEvent[]>();
  let retrieving: RecordedEvent[] | null = null;
  for (const entry of recorded) {
    const { seq } = entry;
    if (entry.type === 'call-start') {
      const events: RecordedEvent[] = [];
      calls.set(entry.call, { call: entry.call, kind: kindName(entry), events });
      if (entry.attemptId !== undefined) byAttempt.set(entry.attemptId, events);
      if (entry.actor === 'retrievePassages') retrieving = events;
    }
    if (entry.type === 'call-event')
      calls.get(entry.call)?.events.push({ seq, actor: entry.actor, event: entry.event });
    if (entry.type === 'text-delta' || entry.type === 'prompt') {
      const { seq: _, atMs: __, ...annotation } = entry;
      byAttempt.get(entry.attemptId)?.push({ seq, annotation });
    }
    if (entry.type === 'retrieval') {
      const { seq: _, atMs: __, ...annotation } = entry;
      retrieving?.push({ seq, annotation });
    }
  }
  return [...calls.values()];
}

/** Returns the kind of a call: its actor, followed by the task of a model reply or the name of a capability. */
export function kindOf({ actor, input }: Pick<Activity, 'actor' | 'input'>): string {
  return kindName({ actor, ...callSubject(input) });
}

interface CallSubject {
  readonly actor: string;
  readonly task?: string | undefined;
  readonly capability?: string | undefined;
}

function kindName({ actor, task, capability }: CallSubject): string {
  return [actor, task ?? capability ?? ''].join(' ').trim();
}

/**
 * Returns a key that two calls share if they are the same request to the same actor. The run id is ignored, and so are a model call's own id
 * and remaining budgets.
 */
export function callKey(
  { actor, input }: Pick<Activity, 'actor' | 'input'>,
  { runId }: Pick<RunStart, 'runId'>,
): string {
  const request = modelCallOf({ actor, input }) ?? input;
  const text = (JSON.stringify(request) ?? '').replaceAll(JSON.stringify(runId), '"run"');
  return `${actor} ${wideDigest(text)}`;
}

/** Returns what a model call sends, whether it started early or not; null for any other activity. */
function modelCallOf(activity: Pick<Activity, 'actor' | 'input'>) {
  const call = modelCallInput(activity);
  if (call === null) return null;
  const { task, model, input, instructions, sharedWith, feedback } = call;
  return { task, model, input, instructions, sharedWith, feedback };
}

export function modelCallInput({ actor, input }: Pick<Activity, 'actor' | 'input'>): ReadReplyInput | null {
  if (actor === 'readReply') return input as ReadReplyInput;
  return actor === 'callAhead' ? callInput(initialAttemptState((input as CallAheadInput).attempt)) : null;
}

export function isAnswered({ events }: RecordedCall): boolean {
  const last = events.at(-1);
  return last !== undefined && 'event' in last && LAST_EVENTS.has(last.event.type) && last.event.type !== 'reply.lost';
}

export const endOf = ({ events }: RecordedCall): number => events.at(-1)?.seq ?? 0;

/** Groups recorded calls by a key; `take` removes and returns the first remaining call of a key. */
export function callQueues(calls: readonly RecordedCall[], keyOf: (recorded: RecordedCall) => string | undefined) {
  const queues = new Map<string, RecordedCall[]>();
  for (const recorded of calls) {
    const key = keyOf(recorded);
    if (key === undefined) continue;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [recorded]);
    else queue.push(recorded);
  }
  return {
    take: (key: string): RecordedCall | undefined => queues.get(key)?.shift(),
  };
}

export interface Recording {
  readonly find: (call: number, activity: Activity) => RecordedCall | undefined;
  /** The first seq after the replayed entries. A call that was in flight there has already received its earlier events. */
  readonly from: number;
  readonly change?: (recorded: RecordedEvent) => RecordedEvent;
}

/** Returns an executor that delivers recorded results. Calls without one, and timers, go to the fallback executor. */
export function recordedExecutor(
  { durableActor, journal }: OpenRun,
  { find, from, change = (recorded) => recorded }: Recording,
  fallback: ActivityExecutor,
): ActivityExecutor {
  return {
    wait: fallback.wait,
    execute(call, activity) {
      const recorded = find(call, activity);
      if (recorded === undefined) return fallback.execute(call, activity);
      const { attemptId = '' } = callSubject(activity.input);
      const wasInFlight = recorded.call === call && (recorded.events[0]?.seq ?? from) < from;
      // The charts must finish the step that started the call first.
      queueMicrotask(() => {
        for (const event of recorded.events) {
          if (wasInFlight && event.seq < from) continue;
          const changed = change(event);
          if ('event' in changed)
            durableActor.deliver({ type: 'call-event', call, actor: activity.actor, event: changed.event });
          else if (durableActor.activities.has(call)) journal.append(withAttemptId(changed.annotation, attemptId));
        }
      });
    },
  };
}

/** The attempt id of the new run differs from the recorded one. */
function withAttemptId(annotation: CallAnnotation, attemptId: string): CallAnnotation {
  return 'attemptId' in annotation ? { ...annotation, attemptId } : annotation;
}
