import { PostChainError } from '../../../machines/contracts/error.ts';
import { EXTERNAL_EVENTS, type JournalEntry, type RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { JournalStore } from '../../../machines/contracts/journal-store.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { type ActivityExecutor, liveExecutor } from '../../engine/runtime/durable-actor.ts';
import type { Run } from '../../engine/runtime/run.ts';
import { type ForkChanges, readChanges } from './changes.ts';
import { divergenceText } from './divergence.ts';
import { callKey, callsIn, endOf, isAnswered } from './recorded-calls.ts';
import { eachOnce, type Recording, recordedExecutor } from './recorded-executor.ts';
import { replayEntries } from './replay-entries.ts';
import { runClock } from './run-clock.ts';
import { requireSameChart, startOf } from './run-of.ts';

export interface ForkOptions {
  /** The entry that comes out otherwise: the fork leaves its run before what led to it came in. */
  readonly at: number;
  /** What is changed there, by path: `thresholds.confidence`, `limits.maxCycles`, `phase`, or of the next reply `reply.confidence`. */
  readonly set?: ForkChanges;
  readonly signal?: AbortSignal;
}

interface Source {
  readonly entries: readonly JournalEntry[];
  /** Of the fork. */
  readonly runId: string;
}

interface Target {
  readonly parts: ChainParts;
  readonly journals: JournalStore | undefined;
}

/**
 * Begins a run that is another one's up to an entry, and lives on from there. What was recorded is given again as long as the same is
 * asked; from where it is not, calls are made.
 *
 * @throws PostChainError `invalid_option` for what cannot be changed, `invalid_journal` where this chain cannot go on with the run.
 */
export function forkRun(
  { entries, runId }: Source,
  { parts, journals }: Target,
  { at, set = {}, signal }: ForkOptions,
): Run {
  const start = startOf(entries);
  requireSameChart(start);
  const from = leavingAt(entries, at);
  const changes = readChanges(set, entries.slice(from));
  const recall = recallOf({ start, entries, from, runId }, parts);
  const clock = runClock(parts.clock, start.startedAtMs, entries[from - 1]?.atMs ?? 0);
  const own: RunStart = {
    ...start,
    runId,
    forkedFrom: {
      runId: start.runId,
      seq: at,
      changes: spelled(set),
      forkedAt: new Date(parts.clock.now()).toISOString(),
    },
  };
  const { opened } = replayEntries(
    own,
    entries.slice(0, from),
    { ...parts, clock },
    {
      isSame: () => true,
      clockAfterRecording: { atMs: clock.sinceStartMs },
      ...(journals && { writer: journals.create(runId) }),
    },
  );
  const { run, durableActor: stage, obey } = opened;
  for (const event of changes.events) stage.deliver({ type: 'delivery', event });
  stage.attach(recordedExecutor(opened, { recall, from, change: changes.change }, liveExecutor(clock, stage.deliver)));
  obey(signal);
  return run;
}

/** The last thing that came in at or before an entry: with it the fork differs. */
function leavingAt(entries: readonly JournalEntry[], at: number): number {
  if (!Number.isSafeInteger(at) || at < 1 || at >= entries.length)
    throw new PostChainError(
      'invalid_option',
      `at: got ${at}; wanted an entry of the run, from 1 to ${entries.length - 1}.`,
    );
  const from = entries.findLastIndex(({ seq, type }) => seq <= at && EXTERNAL_EVENTS.has(type));
  return from < 0 ? entries.findIndex(({ type }) => EXTERNAL_EVENTS.has(type)) : from;
}

/**
 * What is heard again: of calls that were under way, what was left, and of later ones what one that asked the same heard. Throws where
 * this chain would not have asked what the recording did.
 */
function recallOf(
  { start, entries, from, runId }: { readonly start: RunStart; readonly from: number } & Source,
  parts: ChainParts,
): Recording['recall'] {
  const keys = new Map<number, string>();
  const perform: ActivityExecutor['execute'] = (call, made) => void keys.set(call, callKey(made, start));
  const { divergence } = replayEntries(start, entries, parts, { executor: { execute: perform, wait: () => () => {} } });
  if (divergence !== null)
    throw new PostChainError('invalid_journal', `${start.runId}: ${divergenceText(divergence)}; it cannot be forked.`);
  const calls = callsIn(entries).filter((recorded) => isAnswered(recorded) && endOf(recorded) >= from);
  const answers = eachOnce(calls, ({ call }) => keys.get(call));
  return (_, made) => answers.take(callKey(made, { runId }));
}

const spelled = (set: ForkChanges): string[] =>
  Object.entries(set).map(([path, value]) => `${path}=${JSON.stringify(value)}`);
