import { type Activity, subjectOf } from '../../engine/activities.ts';
import type { ActivityExecutor } from '../../engine/runtime/durable-actor.ts';
import type { OpenRun } from '../../engine/runtime/run.ts';
import type { RecordedCall, RecordedEvent } from './recorded-calls.ts';

export interface Recording {
  /** What is heard of a call; undefined for one that was not recorded. */
  readonly recall: (call: number, made: Activity) => RecordedCall | undefined;
  /** Of a call that was under way there: the entry that it has heard everything before. */
  readonly from: number;
  /** Sees what was heard before it is given. */
  readonly change: (heard: RecordedEvent) => RecordedEvent;
}

/** Gives again what was recorded; what was not is left to another world, as are the timers. */
export function recordedExecutor(
  { durableActor: stage, journal }: OpenRun,
  { recall, from, change }: Recording,
  other: ActivityExecutor,
): ActivityExecutor {
  return {
    wait: other.wait,
    execute(call, made) {
      const recorded = recall(call, made);
      if (recorded === undefined) return other.execute(call, made);
      const { attemptId = '' } = subjectOf(made.input);
      const isUnderWay = recorded.call === call && (recorded.heard[0]?.seq ?? from) < from;
      // Not before the charts are done with what made them ask.
      queueMicrotask(() => {
        for (const heard of recorded.heard) {
          if (isUnderWay && heard.seq < from) continue;
          const given = change(heard);
          if ('event' in given) stage.deliver({ type: 'call-event', call, port: made.port, event: given.event });
          else if (stage.activities.has(call)) journal.append(ofAttempt(given.note, attemptId));
        }
      });
    },
  };
}

/** In the run that hears it again, its attempt has another id. */
function ofAttempt(note: Extract<RecordedEvent, { note: unknown }>['note'], attemptId: string) {
  return note.type === 'text-delta' ? { ...note, attemptId } : note;
}

/** Each recorded call once: the first that is left of those that `nameOf` names alike. */
export function eachOnce(calls: readonly RecordedCall[], nameOf: (recorded: RecordedCall) => string | undefined) {
  const left = new Map<string, RecordedCall[]>();
  for (const recorded of calls) {
    const name = nameOf(recorded);
    if (name === undefined) continue;
    const alike = left.get(name);
    if (alike === undefined) left.set(name, [recorded]);
    else alike.push(recorded);
  }
  return {
    take: (name: string): RecordedCall | undefined => left.get(name)?.shift(),
  };
}
