import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalEntry, RunStart } from '../../../machines/contracts/journal.ts';
import type { FinalAnswer } from '../../../machines/contracts/synthesis.ts';
import { clipped } from '../../../machines/text/clip.ts';
import type { DurableEntry, DurableEvent } from '../../durable/entries.ts';
import { machineDigest } from '../../durable/machine-digest.ts';
import type { ReplayedCall } from '../../durable/replay.ts';
import { provideChain } from '../runtime/actors.ts';
import { resolveOptions } from '../runtime/options.ts';
import { type ChainHost, createChainHost } from '../runtime/run.ts';
import { runStartOf } from './run-start.ts';
import { readEntry, storedEntry } from './stored-entries.ts';

export interface ReplayedRun {
  readonly divergence: Divergence | null;
  /** Null if the recording ends before the run does. */
  readonly answer: FinalAnswer | null;
}

/** The first entry in which a replay differs from the recording; null on the side that has no such entry. */
export interface Divergence {
  readonly seq: number;
  readonly recorded: JournalEntry | null;
  readonly replayed: JournalEntry | null;
  /** Why, as far as it can be told. */
  readonly cause: string;
}

/**
 * Replays a recorded run on the real charts, with no model, network or waiting, and compares every entry, including the values that each
 * guard saw. Schemas and the rules of a retry policy are not called again; their recorded results are used.
 *
 * @throws PostChainError `invalid_journal` if the first entry is not `start`.
 */
export function replay(recorded: readonly JournalEntry[]): ReplayedRun {
  runStartOf(recorded);
  const steps = replaySteps(recorded);
  for (;;) {
    const { done, value } = steps.next();
    if (!done) continue;
    const answer = recorded.findLast((entry) => entry.type === 'answer')?.answer ?? null;
    return { divergence: value, answer: value === null ? answer : null };
  }
}

let replayHost: ChainHost | null = null;

/** Calls are not made in a replay, so one chain without options replays all runs. */
function chainForReplays(): ChainHost {
  replayHost ??= createChainHost(resolveOptions({}));
  return replayHost;
}

/** The chart's state after a step of a replay, and the calls in progress. */
export interface ChainStep {
  /** The number of the last entry of the step. */
  readonly seq: number;
  readonly state: ChainState;
  readonly calls: readonly ReplayedCall[];
}

/**
 * Replays entries on the real charts, one step at a time, so that other work can run in between. Entries may be appended to the list until
 * the last step.
 */
export function* replaySteps(recorded: readonly JournalEntry[]): Generator<ChainStep, Divergence | null> {
  const { redacted } = runStartOf(recorded).product;
  const stored: DurableEntry[] = [];
  const steps = chainForReplays().machine.replaySteps(stored, redacted ? samePath : undefined);
  for (;;) {
    for (const entry of recorded.slice(stored.length)) stored.push(storedEntry(entry));
    const { done, value } = steps.next();
    if (!done) {
      yield { seq: value.seq, state: value.snapshot.context as ChainState, calls: value.calls };
      continue;
    }
    const { divergence } = value;
    if (divergence === null) return null;
    const { seq, received, cause } = divergence;
    const entry = recorded[seq] ?? null;
    const replayed = received && readEntry({ seq, atMs: entry?.atMs ?? 0, ...received } as DurableEntry);
    return { seq, recorded: entry, replayed, cause };
  }
}

/** Compares only the path through the charts: in a redacted journal, the texts, and the numbers computed from them, are gone. */
function samePath(recorded: DurableEntry, event: DurableEvent): boolean {
  return JSON.stringify(pathOf(recorded)) === JSON.stringify(pathOf(event));
}

function pathOf(event: DurableEvent): unknown {
  if (event.type !== 'transition') return event.type;
  const { machine, event: name, source, target, candidates } = event;
  return [machine, name, source, target, candidates.map(({ guard, result }) => [guard, result])];
}

/** The chart as journals name it: the digest covers the three machines; descriptions do not change it. */
export function chartVersion(): Pick<RunStart['machine'], 'id' | 'digest'> {
  const machine = provideChain(chainForReplays().parts);
  return { id: machine.id, digest: machineDigest(machine) };
}

export function isReplayable({ machine }: RunStart): boolean {
  const { id, digest } = chartVersion();
  return machine.id === id && machine.digest === digest;
}

/** Throws `invalid_journal` if another version of the chart recorded the run: it may be in a different state after the same events. */
export function requireSameChart(start: RunStart): void {
  if (isReplayable(start)) return;
  const { machine, input } = start;
  const { id, digest } = chartVersion();
  throw new PostChainError(
    'invalid_journal',
    `${input.runId} was recorded with the chart ${machine.id} ${machine.digest}; this PostChain has ${id} ${digest}; use the version that recorded the run`,
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
