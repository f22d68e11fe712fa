import { PostChainError } from '../../../machines/contracts/error.ts';
import type { ChainEvent } from '../../../machines/contracts/events.ts';
import type { CallSubject, JournalEntry } from '../../../machines/contracts/journal.ts';
import { answering, pendingApprovals } from '../../../machines/policies/questions.ts';
import type { Clock } from '../../durable/clock.ts';
import { startOf } from '../../durable/replay.ts';
import type { CallInfo } from '../../durable/reused-calls.ts';
import { filesIn } from '../../llm/content.ts';
import { createFeed } from '../runtime/feed.ts';
import { resolveOptions } from '../runtime/options.ts';
import { attachRun, createChainHost } from '../runtime/run.ts';
import { runStartOf } from './run-start.ts';
import { storedEntry } from './stored-entries.ts';

/**
 * Returns the journal of a recorded run on the current charts. Each call gets the next recorded result of its kind (task or capability),
 * recorded user events are sent again when the run asks for them, and time advances to the next timer when nothing else happens. Use it to
 * update recordings that serve as tests after an intended change.
 *
 * @throws PostChainError `invalid_journal` if the charts now ask for something that the recording does not answer.
 */
export async function rerecord(recorded: readonly JournalEntry[]): Promise<readonly JournalEntry[]> {
  const { input, seed } = runStartOf(recorded);
  const clock = new VirtualClock(input.startedAtMs);
  const chain = createChainHost({ ...resolveOptions({}), clock });
  const feed = createFeed();
  const unanswered: string[] = [];
  const stored = recorded.map(storedEntry);
  const { product } = startOf(stored);
  const actor = chain.machine.start(input.runId, {
    input,
    product,
    notes: filesIn(recorded).map((file) => ({ type: 'attachment', ...file })),
    seed,
    isPaused: true,
    onEntry: feed.take,
    reuse: { entries: stored, from: 0, keyOf: kindOf, onMissing: (call) => void unanswered.push(kindOf(call)) },
  });
  const { run, begin } = attachRun(chain, actor, feed);
  const userEvents = recordedUserEvents(recorded);
  begin();
  while (actor.getSnapshot().status === 'active') {
    const before = run.entries.length;
    await Promise.resolve();
    if (run.entries.length > before) continue;
    if (unanswered.length > 0) throw notRecorded(input.runId, unanswered);
    const { asked, event } = userEvents.next(run.entries);
    if (event !== undefined) run.send(answering(run.ref.getSnapshot().context, event));
    else if (asked === 'direction-asked' || !clock.advance()) throw notRecorded(input.runId, ['the user']);
  }
  await run.answer;
  return run.entries;
}

function notRecorded(runId: string, asked: readonly string[]): PostChainError {
  return new PostChainError(
    'invalid_journal',
    `${runId}: the recording has no answer of ${asked.join(', ')}, which the charts now ask for; fork the run or record it again`,
  );
}

const QUESTIONS: ReadonlySet<JournalEntry['type']> = new Set(['consent-asked', 'direction-asked', 'approval-asked']);

/** Returns the recorded user events as a queue: each is returned when the run asks for input. */
function recordedUserEvents(recorded: readonly JournalEntry[]) {
  const remaining: ChainEvent[] = recorded.flatMap((entry) => (entry.type === 'delivery' ? [entry.event] : []));
  let seen = 0;
  return {
    next(entries: readonly JournalEntry[]) {
      const asked = entries.slice(seen).findLast(({ type }) => QUESTIONS.has(type));
      seen = entries.length;
      // Several calls may wait for approval at the same time.
      const isAnswer = remaining[0]?.type === 'approval.given' && pendingApprovals(entries).length > 0;
      return { asked: asked?.type, event: asked || isAnswer ? remaining.shift() : undefined };
    },
  };
}

/** Time that advances only on request, to the next timer. */
class VirtualClock implements Clock {
  readonly #timers = new Map<number, { readonly dueMs: number; readonly fire: () => void }>();
  #nowMs: number;
  #count = 0;

  constructor(startMs: number) {
    this.#nowMs = startMs;
  }

  now(): number {
    return this.#nowMs;
  }

  setTimeout(fire: () => void, waitMs: number): number {
    this.#count += 1;
    this.#timers.set(this.#count, { dueMs: this.#nowMs + waitMs, fire });
    return this.#count;
  }

  clearTimeout(id: unknown): void {
    this.#timers.delete(id as number);
  }

  /** Fires the next timer; returns false if there is none. */
  advance(): boolean {
    const [next] = [...this.#timers].toSorted(([, one], [, other]) => one.dueMs - other.dueMs);
    if (next === undefined) return false;
    const [id, { dueMs, fire }] = next;
    this.#nowMs = Math.max(this.#nowMs, dueMs);
    this.#timers.delete(id);
    fire();
    return true;
  }
}

/** The kind of a call: its actor, followed by the task of a model reply or the name of a capability. */
function kindOf({ source, subject }: CallInfo): string {
  const { task, capability } = subject as unknown as CallSubject;
  return [source, task ?? capability ?? ''].join(' ').trim();
}
