import type { ChainEvent } from '../../../machines/contracts/chain-event.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry } from '../../../machines/contracts/journal-entry.ts';
import type { ActivityExecutor } from '../../engine/runtime/durable-actor.ts';
import { type PostChainOptions, resolveOptions } from '../../engine/runtime/options.ts';
import { chartVersion, openRun } from '../../engine/runtime/run.ts';
import { callsIn, kindOf } from './recorded-calls.ts';
import { eachOnce, recordedExecutor } from './recorded-executor.ts';
import { startOf } from './run-of.ts';

/**
 * The journal that a recorded run has with the charts as they are now: what each port answered then it answers again, in its order and
 * by the task or capability; what the user said is said again where it is asked for, and time passes where nothing else happens. For recordings that are kept as
 * tests, after a change that was meant.
 *
 * @throws PostChainError `invalid_journal` where the charts now ask what the recording has no answer to.
 */
export async function rerecord(
  recorded: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): Promise<readonly JournalEntry[]> {
  const start = startOf(recorded);
  const parts = resolveOptions(options);
  const time = createStillTime();
  const answers = eachOnce(callsIn(recorded), ({ kind }) => kind);
  const opened = openRun({ ...start, chart: chartVersion() }, { parts, atMs: time.nowMs });
  const { durableActor: stage, run, journal } = opened;
  const waiting = time.world((timer) => stage.deliver({ type: 'timer', timer }));
  stage.attach(
    recordedExecutor(
      opened,
      { recall: (_, made) => answers.take(kindOf(made)), from: 0, change: (heard) => heard },
      waiting,
    ),
  );
  const said = wordsIn(recorded);
  stage.start();
  while (run.actor.getSnapshot().status === 'active') {
    const before = journal.entries.length;
    await Promise.resolve();
    if (time.missing.length > 0) throw unanswered(start.runId, time.missing);
    if (journal.entries.length > before) continue;
    const { asked, event } = said.next(journal.entries);
    if (event !== undefined) stage.deliver({ type: 'delivery', event });
    else if (asked === 'direction-asked' || !time.pass()) throw unanswered(start.runId, ['the user']);
  }
  return journal.entries;
}

function unanswered(runId: string, asked: readonly string[]): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `${runId}: the charts now ask ${asked.join(', ')} for what the recording has no answer to; fork it, or record it anew.`,
  );
}

/** What the user said, each when the same is asked again. */
function wordsIn(recorded: readonly JournalEntry[]) {
  const left: ChainEvent[] = recorded.flatMap((entry) => (entry.type === 'delivery' ? [entry.event] : []));
  let heard = 0;
  return {
    next(entries: readonly JournalEntry[]) {
      const asked = entries.slice(heard).findLast(({ type }) => type === 'consent-asked' || type === 'direction-asked');
      heard = entries.length;
      return { asked: asked?.type, event: asked && left.shift() };
    },
  };
}

/** Time that passes when it is told to: to the next timer. */
function createStillTime() {
  let nowMs = 0;
  const timers = new Map<number, number>();
  const missing: string[] = [];
  let fire: (timer: number) => void = () => {};
  return {
    nowMs: () => nowMs,
    /** What was asked and not recorded. */
    missing,
    world(given: (timer: number) => void): ActivityExecutor {
      fire = given;
      return {
        execute: (_, made) => void missing.push(kindOf(made)),
        wait(timer, waitMs) {
          timers.set(timer, nowMs + waitMs);
          return () => void timers.delete(timer);
        },
      };
    },
    pass(): boolean {
      const [next] = [...timers].toSorted(([, one], [, other]) => one - other);
      if (next === undefined) return false;
      const [timer, dueMs] = next;
      nowMs = Math.max(nowMs, dueMs);
      timers.delete(timer);
      fire(timer);
      return true;
    },
  };
}
