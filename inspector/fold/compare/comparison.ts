import type { RunStart } from '../../../machines/contracts/journal.ts';
import type { RunCharts } from '../../../src/inspection/wire.ts';
import type { RunLog } from '../../log/run-log.ts';
import type { EntryOf } from '../entry-of.ts';
import type { RunFold } from '../run-fold.ts';
import { type CandidateBeside, candidatesBeside } from './candidates-beside.ts';
import { type FactBeside, firstFactBeside } from './facts-beside.ts';
import { type FieldBeside, fieldsBeside } from './fields-beside.ts';
import { pathOf, type Step } from './path.ts';
import { type Rows, rowsOf } from './rows.ts';

export interface ComparedRun {
  readonly runId: string;
  readonly log: RunLog;
  readonly fold: RunFold;
  readonly charts: RunCharts | null;
}

/** The first step at which runs went apart; null for a run that took no more. */
export interface FirstStep {
  readonly entries: readonly (EntryOf<'transition'> | null)[];
  readonly candidates: readonly CandidateBeside[];
}

/** Runs held against the first of them, as far as they are known. */
export interface Comparison extends Rows {
  readonly runIds: readonly string[];
  readonly paths: readonly (readonly Step[])[];
  readonly totals: readonly RunTotals[];
  readonly starts: readonly FieldBeside[];
  readonly forkedFrom: readonly RunStart['forkedFrom'][];
  readonly firstStep: FirstStep | null;
  /** For each run but the first: what was said otherwise first. */
  readonly facts: readonly { readonly fact: FactBeside | null; readonly cutOff: boolean }[];
}

/** Some hundred milliseconds at most, however long the runs are: nothing for the way of a picture to the screen. */
export function compareRuns(runs: readonly ComparedRun[]): Comparison {
  const paths = runs.map(({ fold, charts }) => pathOf(fold, charts));
  const numbers = new Map<string, number>();
  const numberOf = ({ name }: Step): number => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  const rows = rowsOf(paths.map((path) => path.map(numberOf)));
  const starts = runs.map(({ log }) => startOf(log));
  const [first, ...others] = runs;
  return {
    ...rows,
    paths,
    runIds: runs.map(({ runId }) => runId),
    totals: runs.map(({ fold }) => totalsOf(fold)),
    starts: startsBeside(starts),
    forkedFrom: starts.map((start) => start?.forkedFrom ?? null),
    firstStep: firstStepOf(rows, paths, runs),
    facts: first === undefined ? [] : others.map((other) => firstFactBeside(first, other)),
  };
}

function startOf(log: RunLog): RunStart | null {
  const entry = log.count === 0 ? null : log.entry(0);
  return entry?.type === 'run-start' ? entry : null;
}

function firstStepOf(
  { rows, first }: Rows,
  paths: readonly (readonly Step[])[],
  runs: readonly ComparedRun[],
): FirstStep | null {
  const row = first === null ? undefined : rows[first];
  if (row === undefined) return null;
  const entries = row.steps.map((step, run) => {
    const seq = step === null ? undefined : paths[run]?.[step]?.seq;
    const entry = seq === undefined ? undefined : runs[run]?.log.entry(seq);
    return entry?.type === 'transition' ? entry : null;
  });
  return { entries, candidates: candidatesBeside(entries) };
}

/** A run in numbers. */
interface RunTotals {
  readonly cycles: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly tokens: number;
  readonly ms: number;
}

function totalsOf({ spans, timeLine }: RunFold): RunTotals {
  let [tokens, failedCalls] = [0, 0];
  for (const { usage, failure } of spans.attempts) {
    tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
    if (failure !== null) failedCalls += 1;
  }
  return {
    cycles: spans.phases.at(-1)?.cycle ?? 0,
    calls: spans.attempts.length,
    failedCalls,
    tokens,
    ms: timeLine.atMs(timeLine.count - 1),
  };
}

/** What runs were started with otherwise: the question, limits, thresholds, models, prompts, … Null for what is no run of PostChain. */
function startsBeside(starts: readonly (RunStart | null)[]): readonly FieldBeside[] {
  return fieldsBeside(starts.map((start) => (start === null ? null : essence(start))));
}

/** Without what is another in every run, and without the words of earlier messages. */
function essence({ messages, forkedFrom: _, ...start }: RunStart): unknown {
  const own: Record<string, unknown> = { ...start, messages: messages.length };
  for (const name of ['runId', 'startedAt', 'startedAtMs', 'seq', 'atMs', 'sum', 'type', 'states', 'redacted'])
    delete own[name];
  return own;
}
