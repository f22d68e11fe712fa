import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { focusChart } from './chart/chart-view.tsx';
import { bakedDrawingsOf, layoutOf, prepareLayout } from './chart/layout.ts';
import { excerpt } from './fold/text.ts';
import { ChartPanel, Steps } from './panels/chart-panel.tsx';
import { ComparePage } from './panels/compare/compare-page.tsx';
import { RunHead } from './panels/head/run-head.tsx';
import { PageHeader } from './panels/header/page-header.tsx';
import { HelpSheet } from './panels/help/help-sheet.tsx';
import { ErrorBoundary, type PanelProps } from './panels/panel.tsx';
import { RunsTable } from './panels/runs/runs-table.tsx';
import { StepPanel } from './panels/step/step-panel.tsx';
import { Trace } from './panels/trace/trace-panel.tsx';
import type { Inspector, PanelView } from './ui-state/inspector.ts';
import { type Key, listenToKeys, useKeys } from './ui-state/keys.ts';
import { comparedRuns, isChartBeside, isChartFull, toggleChart } from './ui-state/layout.ts';
import { chartAspect, isNarrow } from './ui-state/media.ts';
import { moveKeys } from './ui-state/move-keys.ts';

export function Page({ inspector }: { readonly inspector: Inspector }) {
  const [helps, setHelps] = useState(false);
  useEffect(() => listenToKeys(document), []);
  const view = inspector.view.value;
  const compared = comparedRuns.value;
  const isRun = view !== null && compared === null;
  // The chart of an actor is laid out in a worker.
  const hasActors = inspector.connection.value !== 'file' && inspector.runs.value.some(({ kind }) => kind === 'system');
  useEffect(() => (hasActors ? prepareLayout() : undefined), [hasActors]);
  // An actor of another machine has no phases.
  const runKeys = [...moveKeys(inspector), chartKey];
  useKeys([...(isRun ? runKeys : []), helpKey(() => setHelps(true))], [isRun]);
  useEffect(() => {
    document.title = view === null ? 'PostChain inspector' : `${titleMark(view)} ${excerpt(view.run.title, 80)}`;
  }, [view?.run.title, view?.run.status, view?.run.live]);
  return (
    <>
      {/* Before everything else: if nothing had the focus, the next Tab after it is closed starts at the top. */}
      {helps && <HelpSheet onClose={() => setHelps(false)} />}
      <PageHeader inspector={inspector} view={isRun ? view : null} onHelp={() => setHelps(true)} />
      {compared !== null ? (
        <ErrorBoundary name="The comparison" resetKey={compared.join()}>
          <ComparePage inspector={inspector} runIds={compared} />
        </ErrorBoundary>
      ) : view === null ? (
        <ErrorBoundary name="The list of runs" resetKey="">
          <RunsTable inspector={inspector} />
        </ErrorBoundary>
      ) : (
        <RunPage key={view.run.runId} inspector={inspector} view={view} />
      )}
    </>
  );
}

/** Head, trace, and the selected step, all at the same entry. Other machines show the chart above the trace, unless it has full size or the page is narrow. */
function RunPage({ inspector, view }: PanelProps) {
  const { runId, kind, live } = view.run;
  // Also after its end, so that nothing moves then.
  const [isFollowed, follow] = useState(live);
  if (live && !isFollowed) follow(true);
  const isSystem = kind === 'system';
  // A recorded actor without its machine has no chart.
  const isCharted = view.count === 0 || view.charts?.charts.some(({ states }) => states.length > 0);
  const canChart = !isSystem || view.run.machine === undefined || isCharted;
  const hasBoth = !isSystem && isChartBeside.value && !isNarrow.value;
  const hasSwitch = canChart && !hasBoth && (!isSystem || isNarrow.value);
  const hasChart = canChart && (!hasSwitch || isChartFull.value);
  const hasTrace = !hasChart || !isChartFull.value;
  const { charts } = view;
  // On a narrow page, the chart is laid out before it is requested.
  useEffect(() => {
    if (!isSystem || charts === null || !isNarrow.value || bakedDrawingsOf(charts) !== null) return undefined;
    return layoutOf({ ...charts, aspect: chartAspect() }, () => {});
  }, [charts]);
  const wasFull = useRef(isChartFull.value);
  useLayoutEffect(() => {
    if (wasFull.current !== isChartFull.value) focusShown(isChartFull.value);
    wasFull.current = isChartFull.value;
  }, [isChartFull.value]);
  return (
    <main class={`page ${kind}${hasBoth ? ' both' : ''}${isFollowed ? ' followed' : ''}`} data-run={runId}>
      <section class="head-area" aria-label="Run">
        <ErrorBoundary name="The head" resetKey={`${runId} ${view.count}`}>
          <RunHead key={runId} inspector={inspector} view={view} />
        </ErrorBoundary>
      </section>
      {hasSwitch && (
        <p class="view-switch">
          <button type="button" title={hasChart ? 'Show the trace (c)' : 'Show the chart (c)'} onClick={toggleChart}>
            {hasChart ? 'Trace' : 'Chart'}
          </button>
        </p>
      )}
      {hasChart && (
        <section class="chart-area" aria-label="Chart">
          <ErrorBoundary name="The chart" resetKey={runId}>
            <ChartPanel inspector={inspector} view={view} />
          </ErrorBoundary>
        </section>
      )}
      {hasTrace && (
        <section class="trace-area" aria-label="Trace">
          <ErrorBoundary name="The trace" resetKey={`${runId} ${view.count}`}>
            <Trace key={runId} inspector={inspector} view={view} />
          </ErrorBoundary>
        </section>
      )}
      <section class="step-area" aria-label="Details">
        {isNarrow.value && (hasTrace || !isSystem) && inspector.cursor.value !== null && (
          <button type="button" class="to-trace" onClick={backToTrace}>
            Back to the {hasTrace ? 'trace' : 'chart'}
          </button>
        )}
        {isNarrow.value && hasTrace && <Steps inspector={inspector} view={view} />}
        <LatestStep inspector={inspector} view={view} />
      </section>
    </main>
  );
}

/** The selected step. That of a run in progress is shown after the rest has been painted, so that new entries are seen sooner. */
function LatestStep({ inspector, view }: PanelProps) {
  const [painted, setPainted] = useState(view);
  useEffect(() => setPainted(view), [view]);
  const isLater = view.run.live && inspector.cursor.value === null && painted.count > 0;
  const shown = isLater ? painted : view;
  return useMemo(() => <StepPanel inspector={inspector} view={shown} />, [inspector, shown]);
}

/** After a key, moves the focus to the part that is now shown; a button that was clicked keeps it while it is visible. */
function focusShown(isChart: boolean): void {
  const focused = document.activeElement;
  const isShown = focused !== null && focused !== document.body && focused.getClientRects().length > 0;
  if (isShown && focused.closest('.chart-picture, .trace-list') === null) return;
  if (isChart) focusChart();
  else document.querySelector<HTMLElement>('.trace-list')?.focus({ preventScroll: true });
}

/** On a narrow page, the trace is far above the step. */
function backToTrace(): void {
  const area = document.querySelector('.trace-area') ?? document.querySelector('.chart-area');
  (area?.querySelector('[aria-selected=true]') ?? area)?.scrollIntoView({ block: 'center' });
  if (area?.querySelector('.chart-picture')) focusChart();
  else area?.querySelector<HTMLElement>('.trace-list, .chart-list [aria-pressed=true]')?.focus({ preventScroll: true });
}

const MARKS: Readonly<Record<string, string>> = {
  completed: '✓',
  degraded: '!',
  cancelled: '✕',
  damaged: '✕',
  interrupted: '⏸',
  waiting: '⏸',
  queued: '⏸',
};

/** The state of a run as one character, for the title of the page. */
const titleMark = ({ run: { live, status } }: PanelView): string => (live ? '●' : (MARKS[status] ?? '·'));

const helpKey = (act: () => void): Key => ({ keys: ['?'], description: 'Show the keys', group: 'Page', act });

const chartKey: Key = {
  keys: ['c'],
  description: 'Show the chart in full size, or the trace',
  group: 'Page',
  act: toggleChart,
};
