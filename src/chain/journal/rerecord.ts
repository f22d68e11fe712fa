import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { answering } from '../../../machines/policies/questions.ts';
import { filesIn } from '../../llm/content.ts';
import type { ActivityExecutor } from '../runtime/durable-actor.ts';
import { type PostChainOptions, resolveOptions } from '../runtime/options.ts';
import { chartVersion, openRun } from '../runtime/run.ts';
import { runStartOf } from './journal-format.ts';
import { callQueues, kindOf, recordedCalls, recordedExecutor } from './recorded-calls.ts';

/**
 * Returns the journal of a recorded run on the current charts. Each call gets the next recorded result of its kind (task or capability),
 * recorded user events are sent again when the run asks for them, and time advances to the next timer when nothing else happens. Use it to
 * update recordings that serve as tests after an intended change.
 *
 * @throws PostChainError `invalid_journal` if the charts now ask for something that the recording does not answer.
 */
export async function rerecord(
  recorded: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): Promise<readonly JournalEntry[]> {
  const start = runStartOf(recorded);
  const parts = resolveOptions(options);
  const time = createVirtualTime();
  const answers = callQueues(recordedCalls(recorded), ({ kind }) => kind);
  const opened = openRun({ ...start, chart: chartVersion() }, { parts, files: filesIn(recorded), atMs: time.nowMs });
  const { durableActor, run, journal } = opened;
  const fallback = time.executor((timer) => durableActor.deliver({ type: 'timer', timer }));
  durableActor.attach(
    recordedExecutor(opened, { find: (_, activity) => answers.take(kindOf(activity)), from: 0 }, fallback),
  );
  const userEvents = recordedUserEvents(recorded);
  durableActor.start();
  while (run.actor.getSnapshot().status === 'active') {
    const before = journal.entries.length;
    await Promise.resolve();
    if (time.unanswered.length > 0) throw notRecorded(start.runId, time.unanswered);
    if (journal.entries.length > before) continue;
    const { asked, event } = userEvents.next(journal.entries);
    if (event !== undefined)
      durableActor.deliver({ type: 'delivery', event: answering(run.actor.getSnapshot().context, event) });
    else if (asked === 'direction-asked' || !time.advance()) throw notRecorded(start.runId, ['the user']);
  }
  return journal.entries;
}

function notRecorded(runId: string, asked: readonly string[]): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `${runId}: the recording has no answer of ${asked.join(', ')}, which the charts now ask for; fork the run or record it again`,
  );
}

/** Returns the recorded user events as a queue: each is returned when the run asks for input. */
function recordedUserEvents(recorded: readonly JournalEntry[]) {
  const remaining: ChainEvent[] = recorded.flatMap((entry) => (entry.type === 'delivery' ? [entry.event] : []));
  let seen = 0;
  return {
    next(entries: readonly JournalEntry[]) {
      const asked = entries.slice(seen).findLast(({ type }) => type === 'consent-asked' || type === 'direction-asked');
      seen = entries.length;
      return { asked: asked?.type, event: asked && remaining.shift() };
    },
  };
}

/** Time that advances only on request, to the next timer. */
function createVirtualTime() {
  let nowMs = 0;
  const timers = new Map<number, number>();
  const unanswered: string[] = [];
  let fire: (timer: number) => void = () => {};
  return {
    nowMs: () => nowMs,
    /** The kinds of calls that reached the fallback executor. */
    unanswered,
    executor(onTimer: (timer: number) => void): ActivityExecutor {
      fire = onTimer;
      return {
        execute: (_, activity) => void unanswered.push(kindOf(activity)),
        wait(timer, waitMs) {
          timers.set(timer, nowMs + waitMs);
          return () => void timers.delete(timer);
        },
      };
    },
    /** Fires the next timer; returns false if there is none. */
    advance(): boolean {
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
