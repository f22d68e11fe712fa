import { PostChainError } from '../../../machines/contracts/error.ts';
import {
  ANNOTATIONS,
  type Annotation,
  EXTERNAL_EVENTS,
  type ExternalEvent,
  type JournalEntry,
  type RunStart,
} from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { filesIn } from '../../llm/content.ts';
import type { ChainParts } from '../runtime/actors.ts';
import type { ActivityExecutor, Recording } from '../runtime/durable-actor.ts';
import { type PostChainOptions, resolveOptions } from '../runtime/options.ts';
import { chartVersion, type OpenRun, type OpenRunOptions, openRun } from '../runtime/run.ts';
import { type JournalWriter, runStartOf } from './journal-format.ts';

export interface ReplayedRun {
  /** What the charts produce now. Identical to the recording up to `divergence`. */
  readonly journal: readonly JournalEntry[];
  readonly divergence: Divergence | null;
  /** Null if the recording ends before the run does. */
  readonly answer: FinalAnswer | null;
}

/** The first entry in which a replay differs from the recording; null on the side that has no such entry. */
export interface Divergence {
  readonly seq: number;
  readonly recorded: JournalEntry | null;
  readonly replayed: JournalEntry | null;
}

/**
 * Replays a recorded run on the real charts, with no model, network or waiting, and compares every entry, including the values that each
 * guard saw. Pass the same custom prompts as in the run: their schemas validate the replies. A schema that validated asynchronously and
 * the rules of a retry policy are not called again; their recorded results are used.
 *
 * @throws PostChainError `invalid_journal` if the first entry is not `run-start`.
 */
export function replay(
  recorded: readonly JournalEntry[],
  options: Pick<PostChainOptions, 'prompts'> = {},
): ReplayedRun {
  const start = runStartOf(recorded);
  const { opened, divergence } = replayEntries(start, recorded, resolveOptions(options));
  const { entries } = opened.journal;
  const extra = entries[recorded.length] ?? null;
  const ended = recorded.some(({ type }) => type === 'run-end');
  return {
    journal: entries,
    // A recording may be cut off between two entries that one event causes. After the end of a run nothing may follow.
    divergence: divergence ?? (ended && extra ? { seq: recorded.length, recorded: null, replayed: extra } : null),
    answer: entries.findLast((entry) => entry.type === 'answer')?.answer ?? null,
  };
}

export interface EntriesReplay {
  readonly opened: OpenRun;
  readonly divergence: Divergence | null;
}

export interface ReplayEntriesOptions {
  /** The time of entries after the recording, for a run that continues. */
  readonly clockAfterRecording?: { readonly atMs: () => number };
  readonly writer?: JournalWriter;
  /** How many entries the writer has already. */
  readonly writtenEntries?: number;
  readonly onState?: OpenRunOptions['onState'];
  readonly onEntry?: (entry: JournalEntry) => void;
  /** Receives the activities that the charts start; no-op by default. */
  readonly executor?: ActivityExecutor;
  /** Compares a recorded entry with the replayed one; by default as JSON text. */
  readonly isSame?: SameEntry;
}

/**
 * Replays entries on the real charts: feeds them the recorded external events in order and lets them produce everything else. Stops at the
 * end of the recording or at the first difference.
 */
export function replayEntries(
  start: RunStart,
  recorded: readonly JournalEntry[],
  parts: ChainParts,
  options: ReplayEntriesOptions = {},
): EntriesReplay {
  const steps = replaySteps(start, recorded, parts, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Replays entries as `replayEntries` does, one per step, except for two in the first, so that other work can run in between. Entries may be
 * appended to the list until the step after its last entry.
 */
export function* replaySteps(
  start: RunStart,
  recorded: readonly JournalEntry[],
  parts: ChainParts,
  { clockAfterRecording, executor, onEntry, isSame = sameEntry(start), ...options }: ReplayEntriesOptions = {},
): Generator<void, EntriesReplay> {
  const lastMs = recorded.at(-1)?.atMs ?? 0;
  let first = 1;
  for (; recorded[first]?.type === 'attachment'; first += 1) yield;
  const opened = openRun(start, {
    ...options,
    parts,
    files: filesIn(recorded.slice(0, first)),
    recording: recordingOf(recorded),
    atMs: (seq) => recorded[seq]?.atMs ?? clockAfterRecording?.atMs() ?? lastMs,
  });
  const { durableActor, journal } = opened;
  if (onEntry !== undefined) journal.listen(onEntry);
  if (executor !== undefined) durableActor.attach(executor);
  let isStarted = false;
  const begin = (): void => {
    if (!isStarted) durableActor.start();
    isStarted = true;
  };
  for (const entry of recorded) {
    const { seq } = entry;
    if (seq === 0) continue;
    if (journal.entries.length === seq) begin();
    if (journal.entries.length === seq) feed(opened, entry);
    if (seq >= first) yield;
    const replayed = journal.entries[seq] ?? null;
    if (replayed === null || !isSame(entry, replayed))
      return { opened, divergence: { seq, recorded: entry, replayed } };
  }
  begin();
  return { opened, divergence: null };
}

/** Returns what would run user code again: asynchronous validators and retry rules. */
function recordingOf(recorded: readonly JournalEntry[]): Recording {
  const actors: string[] = [];
  const rules: Extract<JournalEntry, { type: 'retry-rule' }>[] = [];
  let taken = 0;
  let count = 0;
  /** The recording may grow while it is replayed. */
  function readNew(): void {
    for (; count < recorded.length; count += 1) {
      const entry = recorded[count];
      if (entry?.type === 'call-start') actors.push(entry.actor);
      else if (entry?.type === 'retry-rule') rules.push(entry);
    }
  }
  return {
    actorOf(call) {
      readNew();
      return actors[call];
    },
    takeRule(attemptId, rule) {
      readNew();
      const next = rules[taken];
      if (next?.attemptId !== attemptId || next.rule !== rule) return undefined;
      taken += 1;
      return next;
    },
  };
}

/** Delivers an entry that came from outside; the charts produce all other entries themselves. */
function feed({ durableActor, journal }: OpenRun, entry: JournalEntry): void {
  if (EXTERNAL_EVENTS.has(entry.type)) durableActor.deliver(entry as ExternalEvent);
  else if (ANNOTATIONS.has(entry.type)) journal.append(entry as Annotation);
}

type SameEntry = (recorded: JournalEntry, replayed: JournalEntry) => boolean;

/**
 * Compares entries as JSON text. In a redacted journal only the path through the charts can be compared, because the texts, and the numbers
 * computed from them, are gone.
 */
function sameEntry({ redacted }: RunStart): SameEntry {
  const compared = redacted ? pathOf : (entry: JournalEntry): unknown => entry;
  return (recorded, replayed) => JSON.stringify(compared(recorded)) === JSON.stringify(compared(replayed));
}

function pathOf(entry: JournalEntry): unknown {
  if (entry.type !== 'transition') return [entry.seq, entry.type];
  const { machine, event, source, target, candidates } = entry;
  return [entry.seq, machine, event, source, target, candidates.map(({ guard, result }) => [guard, result])];
}

export function isReplayable({ chart }: RunStart): boolean {
  const { id, digest } = chartVersion();
  return chart.id === id && chart.digest === digest;
}

/** Throws `invalid_journal` if another version of the chart recorded the run: it may be in a different state after the same events. */
export function requireSameChart(start: RunStart): void {
  if (isReplayable(start)) return;
  const { runId, chart } = start;
  const { id, digest } = chartVersion();
  throw new PostChainError(
    'invalid_journal',
    `${runId} was recorded with the chart ${chart.id} ${chart.digest}; this PostChain has ${id} ${digest}; use the version that recorded the run`,
  );
}

const MAX_SIDE_CHARS = 300;

/** Describes a divergence in one line. If both entries have the same type, only the first difference between them is shown. */
export function divergenceText({ seq, recorded, replayed }: Divergence): string {
  const sameType = recorded !== null && recorded.type === replayed?.type;
  const { path, one, other } = sameType
    ? firstDifference(recorded, replayed)
    : { path: '', one: recorded, other: replayed };
  const place = path === '' ? `entry ${seq}` : `entry ${seq} (${recorded?.type}): ${path}`;
  return `${place} was ${valueText(one)} in the recording and is ${valueText(other)} now`;
}

interface Difference {
  readonly path: string;
  readonly one: unknown;
  readonly other: unknown;
}

function firstDifference(one: unknown, other: unknown, path = ''): Difference {
  if (isObject(one) && isObject(other) && Array.isArray(one) === Array.isArray(other)) {
    const differs = (name: string): boolean => JSON.stringify(one[name]) !== JSON.stringify(other[name]);
    const name = Object.keys({ ...one, ...other }).find(differs);
    if (name !== undefined) return firstDifference(one[name], other[name], path === '' ? name : `${path}.${name}`);
  }
  return { path, one, other };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function valueText(value: unknown): string {
  return value === null || value === undefined ? 'missing' : clipped(JSON.stringify(value), MAX_SIDE_CHARS);
}
