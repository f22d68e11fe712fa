import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { entriesIn, entryAt, runStart } from '../entry-index.ts';
import { comparedValues } from '../explain.ts';
import { capitalize } from '../format.ts';
import { comparedWords, guardTitle } from '../guard-words.ts';
import type { LoadedEntries } from '../run-fold.ts';
import { lastStartedBy, numbersIn } from '../sorted.ts';
import { systemTrace } from '../system-trace.ts';
import { changedFields, type FieldDifference } from '../system-words.ts';
import { traceOf } from '../trace.ts';
import { rowsIn, type TraceRow } from '../trace-row.ts';
import { forkChanges } from '../what-if.ts';

export type Pair<Value> = readonly [Value, Value];

export const both = <From, To>([a, b]: Pair<From>, map: (value: From) => To): Pair<To> => [map(a), map(b)];

export interface ComparedRun extends LoadedEntries {
  readonly runId: string;
  readonly kind: InspectedRun['kind'];
  readonly isOver: boolean;
}

export interface ComparedStep {
  readonly row: TraceRow;
  /** `Cycle 2, Yield`, or the child actor that took it; empty for the root actor. */
  readonly place: string;
  /** The same for the same step of every run. */
  readonly name: string;
}

type Paths = Pair<readonly ComparedStep[]>;

export type Comparison = ReturnType<typeof compareRuns>;

/** Compares two runs, as far as their entries have arrived. Takes at most a few hundred milliseconds: too much for one frame. */
export function compareRuns(runs: Pair<ComparedRun>) {
  const paths = both(runs, pathOf);
  const [longer, other] = paths[0].length < paths[1].length ? paths.toReversed() : paths;
  const firstDifference = longer?.findIndex(({ name }, at) => name !== other?.[at]?.name) ?? -1;
  const first = firstDifference < 0 ? null : firstDifference;
  return {
    /** The index of the first step that differs; null if the paths are the same. */
    first,
    paths,
    settings: settingsThatDiffer(runs),
    forkedFrom: both(runs, forkIn),
    guards: guardsAt(runs, paths, first),
    firstData: firstDataOf(runs, paths, first),
  };
}

function pathOf(run: ComparedRun): readonly ComparedStep[] {
  const { log, fold, kind, isOver } = run;
  const rows = kind === 'system' ? systemTrace({ ...run, count: log.count }) : traceOf(log, fold, log.count, isOver);
  return stepsIn(run, rows, '');
}

function stepsIn(run: ComparedRun, rows: readonly TraceRow[], place: string): readonly ComparedStep[] {
  return rows.flatMap((row) => {
    const { kind, title, from, children } = row;
    const isGroup = kind === 'cycle';
    const phase = kind === 'answer' ? undefined : lastStartedBy(run.fold.spans.phases, from);
    const isOfPhase = phase !== undefined && (kind === 'phase' || place === '');
    const own = isOfPhase ? `Cycle ${phase.cycle}, ${capitalize(phase.phase)}` : place;
    const name = isGroup || kind === 'actor' ? null : nameOf(run, row);
    return [
      ...(name === null ? [] : [{ row, place: own, name }]),
      ...(children === undefined ? [] : stepsIn(run, rowsIn(row), isGroup ? '' : kind === 'phase' ? own : title)),
    ];
  });
}

/** Entries that depend on the processes that executed a run, and changed numbers, which are settings. */
const NO_STEPS: ReadonlySet<string> = new Set(['resumed', 'closed', 'stopped', 'run.adjusted']);

/** Identifies a step; null for what depends on time and processes. */
function nameOf(
  { log, fold, kind: runKind }: ComparedRun,
  { kind, title, moves, next, status, from }: TraceRow,
): string | null {
  const type = entryAt(log, from, 'delivery')?.event.type ?? fold.entries.typeOf(from);
  const isFailed = status === 'failed';
  if (
    kind === 'aside' ||
    (kind === 'activity' && !isFailed && runKind === 'run') ||
    (kind === 'event' && NO_STEPS.has(type))
  )
    return null;
  // The titles of the others have numbers.
  const words = kind === 'call' || kind === 'decision' || kind === 'limit' || kind === 'wait' ? type : title;
  return JSON.stringify([kind, words, moves, next, entryAt(log, from, 'decision')?.decision.rule, isFailed]);
}

/** The run that a fork was made from, and the changes in words. */
function forkIn({ log }: ComparedRun) {
  const start = runStart(log);
  return start?.forkedFrom ? { runId: start.forkedFrom.actorId, changes: forkChanges(start) } : null;
}

/** Leaves out what differs between any two runs, and the text of earlier messages. A fork stores changed limits and thresholds as an event. */
function settingsOf({ log, fold }: ComparedRun): object {
  const begun = runStart(log);
  if (begun === null) return {};
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

const settingsThatDiffer = (runs: Pair<ComparedRun>): readonly FieldDifference[] =>
  changedFields(...both(runs, settingsOf)).filter(({ path }) => !path.endsWith('AtMs'));

/** The guards that were evaluated from the last equal step to the end of the one at a row, each with its place in the chart. */
function guardsNear({ log, fold }: ComparedRun, path: readonly ComparedStep[], first: number) {
  const [before, at] = [path[Math.max(0, first - 1)]?.row, path[first]?.row];
  const end = fold.entries.stepOf(at?.to ?? at?.from ?? log.count - 1).to - 1;
  return numbersIn(fold.transitions.seqs, fold.entries.stepOf(before?.from ?? 0).from, end).flatMap((seq) => {
    const { machine = '', source, candidates = [] } = entryAt(log, seq, 'transition') ?? {};
    return candidates
      .filter(({ guard, result }) => guard !== null && result !== 'not-evaluated' && !REDUNDANT.has(guard))
      .map((candidate) => [JSON.stringify([machine, source, candidate.guard]), candidate] as const);
  });
}

/** Guards whose result the step itself shows. */
const REDUNDANT: ReadonlySet<string> = new Set(['nothingToRun', 'replyIsKnown']);

/** The first guard, in the order of the run, that both runs evaluated in the same state with different results. The rows of actors have their guards. */
function guardsAt(runs: Pair<ComparedRun>, paths: Paths, first: number | null): Pair<string> | null {
  if (first === null || runs[0].kind !== 'run') return null;
  const others = new Map(guardsNear(runs[1], paths[1], first).reverse());
  for (const [place, candidate] of guardsNear(runs[0], paths[0], first)) {
    const other = others.get(place);
    if (other === undefined || other.result === candidate.result) continue;
    return both([candidate, other], (one) => {
      const all = comparedValues(one.inputs ?? {});
      const limited = all.filter(({ limit }) => limit !== null);
      const values = comparedWords(limited.length > 0 ? limited : all);
      return `“${guardTitle(one.guard ?? '')}” ${one.result === 'taken' ? 'held' : 'did not hold'}${values && ` (${values})`}`;
    });
  }
  return null;
}

const MAX_READ = 2_000;

function firstDataOf(runs: Pair<ComparedRun>, [path, other]: Paths, first: number | null): number | null {
  const isSystem = runs[0].kind === 'system';
  const dataOf = (step: ComparedStep | undefined): string | undefined => (isSystem ? step?.row.note : step?.row.text);
  const at = path
    .slice(0, Math.min(first ?? path.length, MAX_READ))
    .findIndex((step, index) => dataOf(step) !== dataOf(other[index]));
  return at < 0 ? null : at;
}
