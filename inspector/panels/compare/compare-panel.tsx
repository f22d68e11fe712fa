import './compare.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import type { Pair } from '../../fold/compare/align.ts';
import { type Comparison, compareRuns } from '../../fold/compare/comparison.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import type { OpenedRun, RunView } from '../../ui-state/inspector.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import type { PanelProps } from '../panel.tsx';
import { FirstDifference, Totals } from './differences.tsx';
import { StepTable } from './step-table.tsx';

/** Whether a run is loaded; for a live run, whether it has entries. */
const isLoaded = ({ end, count }: OpenedRun, live: boolean): boolean => end.value !== null || (live && count.value > 0);

/** The name of a run in a list: request, status, start time and short id. */
function runName({ title, runId, status, startedAt, forkedFrom }: InspectedRun): string {
  const fork = forkedFrom ? ` (fork of ${shortRunId(forkedFrom.runId)})` : '';
  return `${excerpt(title, 60) || 'Untitled'} · ${status} · ${startedAt.slice(0, 19).replace('T', ' ')} · ${shortRunId(runId)}${fork}`;
}

/** The selected run (A) next to another one (B): where they diverge, and what differed before. */
export function ComparePanel({ inspector, view }: PanelProps) {
  const { run } = view;
  const others = inspector.runs.value.filter(({ runId, kind }) => kind === run.kind && runId !== run.runId);
  const other = others.find(({ runId }) => runId === comparedRuns.value?.[1]);
  const otherId = other?.runId;
  useEffect(() => void (otherId && inspector.openRun(otherId)), [otherId]);
  const openedOf = ({ runId }: InspectedRun) => inspector.loaded.value.find((opened) => opened.runId === runId);
  const [left, right] = [openedOf(run), other && openedOf(other)];
  const missing = [run, ...(other ? [other] : [])].filter((one) => {
    const opened = openedOf(one);
    return opened === undefined || !isLoaded(opened, one.live);
  });
  const opened: Pair<OpenedRun> | null = left && right && missing.length === 0 ? [left, right] : null;
  const comparison = useComparison(opened);

  if (others.length === 0) return <p class="muted">There is only one run so far. Comparing takes two.</p>;
  return (
    <div class="compare-panel">
      <RunChoice view={view} others={others} />
      {other === undefined && (
        <p class="muted">
          Choose a second run to see the steps of both side by side, with the first difference marked.
        </p>
      )}
      {other !== undefined && missing.length > 0 && (
        <p role="status">Loading {missing.map(({ title, runId }) => excerpt(title, 40) || runId).join(', ')}…</p>
      )}
      {opened !== null && comparison === null && <p role="status">Comparing…</p>}
      {opened !== null && comparison !== null && other !== undefined && (
        <>
          {opened.map(
            ({ runId, end }) =>
              end.value?.problem && (
                <p key={runId} class="problem" role="alert">
                  {excerpt(end.value.problem, 300)}
                </p>
              ),
          )}
          <Totals runs={[run, other]} comparison={comparison} />
          <FirstDifference comparison={comparison} />
          <StepTable
            at={view.at}
            runs={opened}
            comparison={comparison}
            onGo={(side, seq) => {
              if (side === 1) {
                comparedRuns.value = null;
                inspector.selectRun(other.runId);
              }
              inspector.cursor.value = seq;
            }}
          />
        </>
      )}
    </div>
  );
}

interface RunChoiceProps {
  readonly view: RunView;
  readonly others: readonly InspectedRun[];
}

/** Selects run B; runs with the same request come first. */
function RunChoice({ view: { run }, others }: RunChoiceProps) {
  const groups = [
    { name: 'Same request', runs: others.filter(({ title }) => title === run.title) },
    { name: 'Other requests', runs: others.filter(({ title }) => title !== run.title) },
  ];

  return (
    <div class="compare-choices stack">
      <p>
        <b class="letter">A</b> {excerpt(run.title, 60) || run.runId}
      </p>
      <label class="row">
        <b class="letter">B</b>
        <span class="visually-hidden">Second run</span>
        <select
          value={comparedRuns.value?.[1] ?? ''}
          onChange={({ currentTarget }) => {
            comparedRuns.value = [comparedRuns.value?.[0] ?? '', currentTarget.value];
          }}
        >
          <option value="">Choose a run…</option>
          {groups.map(
            ({ name, runs }) =>
              runs.length > 0 && (
                <optgroup key={name} label={name}>
                  {runs.map((other) => (
                    <option key={other.runId} value={other.runId}>
                      {runName(other)}
                    </option>
                  ))}
                </optgroup>
              ),
          )}
        </select>
      </label>
    </div>
  );
}

/** While entries keep arriving, the comparison is updated this often. */
const LIVE_MS = 500;

interface ComparisonResult {
  readonly key: string;
  readonly ids: string;
  readonly comparison: Comparison | null;
  readonly error: unknown;
}

/** The comparison of two runs, computed outside rendering; null until it is done. Throws if it failed. */
function useComparison(runs: Pair<OpenedRun> | null): Comparison | null {
  const [done, setDone] = useState<ComparisonResult | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const latest = useRef(runs);
  latest.current = runs;
  const ids = runs === null ? '' : idsOf(runs);
  // Reads the signals, so that the panel renders again with new entries.
  for (const { count, charts } of runs ?? []) void [count.value, charts.value];
  const key = runs === null ? '' : keyOf(runs);

  useEffect(() => {
    if (latest.current === null || done?.key === key || timer.current !== null) return;
    const compare = (): void => {
      timer.current = null;
      const now = latest.current;
      if (now !== null) setDone({ key: keyOf(now), ids: idsOf(now), ...tryCompare(now) });
    };
    timer.current = setTimeout(compare, done?.ids === ids ? LIVE_MS : 0);
  }, [key, ids, done]);

  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current);
    },
    [],
  );
  if (runs === null || done?.ids !== ids) return null;
  if (done.comparison === null) throw done.error;
  return done.comparison;
}

const idsOf = (runs: Pair<OpenedRun>): string => runs.map(({ runId }) => runId).join('\n');

const keyOf = (runs: Pair<OpenedRun>): string =>
  runs.map(({ runId, log, charts }) => `${runId} ${log.count} ${charts.peek() === null}`).join('\n');

/** Keeps an error to throw it while rendering, where the error boundary catches it. */
function tryCompare([left, right]: Pair<OpenedRun>): Pick<ComparisonResult, 'comparison' | 'error'> {
  const compared = ({ runId, log, fold, charts }: OpenedRun) => ({ runId, log, fold, charts: charts.peek() });
  try {
    return { comparison: compareRuns([compared(left), compared(right)]), error: null };
  } catch (error) {
    return { comparison: null, error };
  }
}
