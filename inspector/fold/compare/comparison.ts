import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import { runStart } from '../answer.ts';
import { changedFields } from '../differences.ts';
import { type EntryOf, entriesIn, entryAt } from '../entry-index.ts';
import { forkChanges } from '../fork-changes.ts';
import type { LoadedEntries, RunFold } from '../run-fold.ts';
import { activityTitle } from '../trace-items.ts';
import { INIT, type RecordedTransition } from '../transition-log.ts';
import { transitionLookup } from '../transition-lookup.ts';
import { type Pair, type Rows, rowsOf } from './align.ts';

export interface ComparedStep {
  readonly seq: number;
  readonly transition: RecordedTransition;
  /** Identifies the transition; equal in every run. */
  readonly name: string;
}

/**
 * The transitions a run took, in order, without those that only depend on how and when a reply arrives: self-transitions, and those of single
 * model calls.
 */
function pathOf(fold: RunFold, charts: RunCharts | null): readonly ComparedStep[] {
  const lookup = charts === null ? null : transitionLookup(charts.charts);
  const events = new Map(charts?.charts.map(({ id, transitions }) => [id, transitions]));
  const steps: ComparedStep[] = [];
  for (const transition of fold.transitions.distinct) {
    const { machine, source, target, guard } = transition;
    if (machine === MODEL_CALL || (target.length === 1 && target[0] === source)) continue;
    const index = lookup?.indexOf(transition) ?? -1;
    const event = events.get(machine)?.[index]?.event ?? transition.event;
    const name = JSON.stringify([machine, event, source, target, guard]);
    for (const seq of transition.seqs) steps.push({ seq, transition, name });
  }
  return causesFirst(
    steps.sort((left, right) => left.seq - right.seq),
    new Set(Object.values(charts?.invoked ?? {})),
  );
}

/**
 * Puts the first steps of a nested machine after the step that starts the machine: the journal has them in the opposite order.
 */
function causesFirst(steps: readonly ComparedStep[], nested: ReadonlySet<string>): readonly ComparedStep[] {
  const ordered: ComparedStep[] = [];
  let postponed: ComparedStep[][] = [];
  const release = (): void => {
    for (const group of postponed.reverse()) ordered.push(...group);
    postponed = [];
  };
  for (const step of steps) {
    const { machine, event } = step.transition;
    if (event !== INIT || !nested.has(machine)) {
      ordered.push(step);
      release();
    } else if (postponed.at(-1)?.[0]?.transition.machine === machine) postponed.at(-1)?.push(step);
    else postponed.push([step]);
  }
  release();
  return ordered;
}

const MODEL_CALL = 'attempt';

export interface ComparedRun extends LoadedEntries {
  readonly runId: string;
}

/** Two runs compared, as far as their entries have arrived. */
export interface Comparison extends Rows {
  readonly runIds: Pair<string>;
  readonly paths: Pair<readonly ComparedStep[]>;
  /** The entry of each run after which it writes the answer. */
  readonly answers: Pair<number>;
  /** The settings that differ: request, limits, thresholds, models, prompts, … */
  readonly settings: readonly ComparedField[];
  readonly forkedFrom: Pair<Fork | null>;
  readonly parting: Parting | null;
  readonly firstContent: FirstContent | null;
}

/** The run that a fork was made from, and the changes in words. */
interface Fork {
  readonly runId: string;
  readonly changes: readonly string[];
}

/** Where the paths part. */
export interface Parting {
  /** The transition of each run; null if it took no more. */
  readonly entries: Pair<EntryOf<'transition'> | null>;
  /** The entry of each run that shows why: of a transition out of Yield, its decision. */
  readonly shownAt: Pair<number | null>;
  /** The first guard with another result in each run; null if none has. */
  readonly guard: PartingGuard | null;
}

interface PartingGuard {
  readonly name: string;
  /** Whether it held. */
  readonly holds: Pair<boolean>;
  /** The values that it compared in each run. */
  readonly inputs: Pair<Inputs>;
}

/** Takes at most a few hundred milliseconds, however long the runs are: too much for one frame. */
export function compareRuns(runs: Pair<ComparedRun>): Comparison {
  const paths = both(runs, ({ fold, charts }) => pathOf(fold, charts));
  const numbers = new Map<string, number>();
  const [left, right] = both(paths, (path) =>
    path.map(({ name }) => {
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      return number;
    }),
  );
  const rows = rowsOf(left, right);
  return {
    ...rows,
    paths,
    answers: both(paths, answerFrom),
    runIds: both(runs, ({ runId }) => runId),
    settings: fieldsOf(both(runs, settingsOf)),
    forkedFrom: both(runs, forkIn),
    parting: partingOf(rows, paths, runs),
    firstContent: firstContentOf(runs),
  };
}

function forkIn({ log }: ComparedRun): Fork | null {
  const start = runStart(log);
  return start?.forkedFrom ? { runId: start.forkedFrom.actorId, changes: forkChanges(start) } : null;
}

const both = <From, To>([left, right]: Pair<From>, map: (value: From) => To): Pair<To> => [map(left), map(right)];

/** Leaves out what differs between any two runs, and the text of earlier messages. A fork stores changed limits and thresholds as an event. */
function settingsOf({ log, fold }: ComparedRun): unknown {
  const begun = runStart(log);
  if (begun === null) return null;
  const { input, product, machine, seed, node, icu } = begun;
  const { messages, runId: _, identity: __, startedAtMs: ___, ...given } = input;
  const { fork: ____, redacted: _____, ...recorded } = product;
  const settings: Record<string, unknown> = {
    ...given,
    ...recorded,
    machine,
    seed,
    node,
    icu,
    messages: messages.length,
  };
  for (const { event } of entriesIn(log, fold.entries, 'delivery')) {
    if (event.type !== 'run.adjusted') continue;
    for (const name of ['limits', 'thresholds'] as const)
      settings[name] = Object.assign({}, settings[name], event[name]);
  }
  return settings;
}

function partingOf({ first }: Rows, paths: Pair<readonly ComparedStep[]>, runs: Pair<ComparedRun>): Parting | null {
  if (first === null) return null;
  const entryOf = (run: 0 | 1) => entryAt(runs[run].log, paths[run][first]?.seq, 'transition');
  const entries: Pair<EntryOf<'transition'> | null> = [entryOf(0), entryOf(1)];
  const shownAt = (run: 0 | 1): number | null => {
    const [entry, { fold }] = [entries[run], runs[run]];
    if (entry?.machine !== 'postChain' || !entry.source.split('.').includes('yield')) return entry?.seq ?? null;
    const { seq } = entry;
    const distances = fold.entries.of('decision').map((one) => [Math.abs(one - seq), one] as const);
    return distances.sort(([one], [other]) => one - other)[0]?.[1] ?? seq;
  };
  return { entries, shownAt: [shownAt(0), shownAt(1)], guard: partingGuardOf(entries) };
}

const answerFrom = (path: readonly ComparedStep[]): number =>
  path.findLast(({ transition: { machine, target } }) => machine === 'postChain' && target.includes('synthesizing'))
    ?.seq ?? Number.POSITIVE_INFINITY;

type Candidate = EntryOf<'transition'>['candidates'][number];
type Inputs = NonNullable<Candidate['inputs']>;

const candidateKey = ({ guard, target }: Candidate): string => JSON.stringify([guard, target]);

/** The first guard, in the order of the chart, that both runs evaluated in the same state with different results. */
function partingGuardOf([left, right]: Parting['entries']): PartingGuard | null {
  if (left === null || right === null || left.source !== right.source) return null;
  const others = new Map(right.candidates.map((candidate) => [candidateKey(candidate), candidate]));
  for (const one of left.candidates) {
    const other = others.get(candidateKey(one));
    if (one.guard === null || other === undefined || one.result === other.result) continue;
    if (one.result === 'not-evaluated' || other.result === 'not-evaluated') continue;
    const holds: Pair<boolean> = [one.result === 'taken', other.result === 'taken'];
    return { name: one.guard, holds, inputs: [one.inputs ?? {}, other.inputs ?? {}] };
  }
  return null;
}

/** A field that differs: its path, and its value in each run; undefined if a run has none. */
interface ComparedField {
  readonly path: string;
  readonly values: Pair<unknown>;
}

function fieldsOf([left, right]: Pair<unknown>): readonly ComparedField[] {
  return changedFields({ value: left }, { value: right })
    .map(
      ({ path, before, after }): ComparedField => ({ path: path.replace(/^value\.?/u, ''), values: [before, after] }),
    )
    .filter(({ path }) => !path.split('.').some(isTiming));
}

/** Points in time and durations differ between any two runs. */
const isTiming = (name: string): boolean => name.endsWith('AtMs') || name === 'totalMs' || name === 'durationMs';

/** The first reply or result of a call that differs between the runs. */
interface FirstContent {
  /** `reply to yield`, `Tool search_web` */
  readonly kind: string;
  /** Counts the records of this kind, from 1. */
  readonly nth: number;
  readonly fields: readonly ComparedField[];
}

/** The most characters of entries to read: a few hundred milliseconds. */
const MAX_CHARS = 3_000_000;

function firstContentOf([left, right]: Pair<ComparedRun>): FirstContent | null {
  const others = new Map(recordsOf(right.fold).map(({ kind, nth, seq }) => [`${nth} ${kind}`, seq]));
  let chars = 0;
  for (const { kind, nth, seq } of recordsOf(left.fold)) {
    const other = others.get(`${nth} ${kind}`);
    if (other === undefined) continue;
    chars += left.log.line(seq).length;
    if (chars > MAX_CHARS) return null;
    const fields = fieldsOf([contentOf(left.log.entry(seq)), contentOf(right.log.entry(other))]);
    if (fields.length > 0) return { kind, nth, fields };
  }
  return null;
}

/** The replies and results of a run, in order. */
function recordsOf({ spans }: RunFold) {
  const counts = new Map<string, number>();
  const ended = spans.calls.filter(({ to }) => to !== null).sort((one, other) => (one.to ?? 0) - (other.to ?? 0));
  return ended.map(({ source, subject, outcome, to }) => {
    const kind = `${outcome === 'reply.ended' ? 'reply to' : activityTitle(source)} ${subject}`.trim();
    const nth = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, nth);
    return { kind, nth, seq: to ?? 0 };
  });
}

function contentOf(entry: JournalEntry): unknown {
  const event = entry.type === 'activity-event' ? entry.event : null;
  if (event?.type === 'done') return event.output;
  if (event?.type === 'failed') return event.error;
  return event?.type !== 'reply.ended' ? null : event.reply.failure === null ? event.reply.value : event.reply.failure;
}
