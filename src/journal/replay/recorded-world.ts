import { type Call, subjectOf } from '../../engine/activities/call.ts';
import type { OpenRun } from '../../engine/runtime/open-run.ts';
import type { World } from '../../engine/runtime/stage.ts';
import type { Heard, RecordedCall } from './recorded-calls.ts';

export interface Recording {
  /** What is heard of a call; undefined for one that was not recorded. */
  readonly recall: (call: number, made: Call) => RecordedCall | undefined;
  /** Of a call that was under way there: the entry that it has heard everything before. */
  readonly from: number;
  /** Sees what was heard before it is given. */
  readonly change: (heard: Heard) => Heard;
}

/** Gives again what was recorded; what was not is left to another world, as are the timers. */
export function recordedWorld({ stage, journal }: OpenRun, { recall, from, change }: Recording, other: World): World {
  return {
    wait: other.wait,
    perform(call, made) {
      const recorded = recall(call, made);
      if (recorded === undefined) return other.perform(call, made);
      const { attemptId = '' } = subjectOf(made.input);
      const isUnderWay = recorded.call === call && (recorded.heard[0]?.seq ?? from) < from;
      // Not before the charts are done with what made them ask.
      queueMicrotask(() => {
        for (const heard of recorded.heard) {
          if (isUnderWay && heard.seq < from) continue;
          const given = change(heard);
          if ('event' in given) stage.deliver({ type: 'call-event', call, port: made.port, event: given.event });
          else if (stage.calls.has(call)) journal.append(ofAttempt(given.note, attemptId));
        }
      });
    },
  };
}

/** In the run that hears it again, its attempt has another id. */
function ofAttempt(note: Extract<Heard, { note: unknown }>['note'], attemptId: string) {
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
