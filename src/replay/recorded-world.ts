import type { Call } from '../calls/call.ts';
import type { OpenRun } from '../runtime/open-run.ts';
import type { World } from '../runtime/stage.ts';
import { attemptOf, callKey, type Heard, isAnswered, type RecordedCall } from './recorded-calls.ts';

export interface RecordedAnswers {
  readonly calls: readonly RecordedCall[];
  /** From this entry of the recording on. */
  readonly from: number;
  /** Sees what was heard before it is given. */
  readonly change: (heard: Heard) => Heard;
}

/**
 * Gives again what was recorded, as long as the same is asked; what was not recorded is left to another world, as are the timers. Calls
 * that were under way hear the rest of what they heard then.
 */
export function recordedWorld(
  { run, stage, journal }: OpenRun,
  { calls, from, change }: RecordedAnswers,
  other: World,
): World {
  const left = calls.filter((recorded) => isAnswered(recorded) && (recorded.heard.at(-1)?.seq ?? 0) >= from);
  const byNumber = new Map(left.map((recorded) => [recorded.call, recorded]));
  const byKey = new Map<string, RecordedCall[]>();
  for (const recorded of left) byKey.set(recorded.key, [...(byKey.get(recorded.key) ?? []), recorded]);
  const used = new Set<RecordedCall>();

  function recordedOf(call: number, made: Call): RecordedCall | undefined {
    const same = byNumber.get(call);
    const key = callKey(made, run);
    if (same?.key === key && !used.has(same)) return same;
    return byKey.get(key)?.find((recorded) => !used.has(recorded));
  }

  return {
    wait: other.wait,
    perform(call, made) {
      const recorded = recordedOf(call, made);
      if (recorded === undefined) return other.perform(call, made);
      used.add(recorded);
      const attemptId = attemptOf(made) ?? '';
      // Not before the charts are done with what made them ask.
      queueMicrotask(() => {
        for (const heard of recorded.heard) {
          if (heard.seq < from && byNumber.get(call) === recorded) continue;
          const given = change(heard);
          if ('event' in given) stage.deliver({ type: 'call-event', call, port: made.port, event: given.event });
          else if (stage.calls.has(call)) journal.append({ type: 'text-delta', attemptId, text: given.text });
        }
      });
    },
  };
}
