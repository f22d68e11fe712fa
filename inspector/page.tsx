import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { excerpt } from './fold/text.ts';
import { ActPanel } from './panels/act/act-panel.tsx';
import { ChartPanel } from './panels/chart-panel.tsx';
import { ComparePanel } from './panels/compare/compare-panel.tsx';
import { searchKey } from './panels/events/event-search.tsx';
import { PageHeader } from './panels/header/page-header.tsx';
import { HelpSheet } from './panels/help/help-sheet.tsx';
import { OriginsPanel } from './panels/origins/origins-panel.tsx';
import { ErrorBoundary, type PanelProps } from './panels/panel.tsx';
import { RunsTable } from './panels/runs/runs-table.tsx';
import { Separator } from './panels/separator.tsx';
import { StepPanel } from './panels/step/step-panel.tsx';
import { StoryColumn } from './panels/story/story-column.tsx';
import { Timeline } from './panels/timeline/timeline.tsx';
import { WhatIfPanel } from './panels/what-if/what-if-panel.tsx';
import type { Inspector, RunView } from './ui-state/inspector.ts';
import { addKeys, type Key, listenToKeys } from './ui-state/keys.ts';
import {
  activePanel,
  isAvailable,
  isRunView,
  RUN_VIEWS,
  type RunViewName,
  STEP_TABS,
  showPanel,
} from './ui-state/panel.ts';
import { paneSizes } from './ui-state/panes.ts';

const views: Readonly<Record<RunViewName, ComponentType<PanelProps>>> = {
  act: ActPanel,
  compare: ComparePanel,
  'what-if': WhatIfPanel,
  origins: OriginsPanel,
};

/** The list of runs, or one run: its story, chart, selected step and timeline, all at the same entry. */
export function Page({ inspector }: { readonly inspector: Inspector }) {
  const [helps, setHelps] = useState(false);
  useEffect(() => listenToKeys(document), []);
  const view = inspector.view.value;
  const isRun = view !== null;
  useEffect(() => addKeys([...(isRun ? [...panelKeys(), searchKey] : []), helpKey(() => setHelps(true))]), [isRun]);
  useEffect(() => {
    document.title = view === null ? 'PostChain inspector' : `${titleMark(view)} ${excerpt(view.run.title, 80)}`;
    document.querySelector('link[rel=icon]')?.setAttribute('href', faviconOf(view));
  }, [view?.run.title, view?.run.status, view?.run.live]);
  return (
    <>
      <PageHeader inspector={inspector} view={view} onHelp={() => setHelps(true)} />
      {view === null ? (
        <ErrorBoundary name="The list of runs" resetKey="">
          <RunsTable inspector={inspector} />
        </ErrorBoundary>
      ) : (
        <RunPage inspector={inspector} view={view} />
      )}
      {helps && <HelpSheet hasLegend={isRun} onClose={() => setHelps(false)} />}
    </>
  );
}

function RunPage({ inspector, view }: PanelProps) {
  const { runId, kind } = view.run;
  const sizes = Object.entries(paneSizes.value).map(([pane, size]) => [`--${pane}-size`, `${size}px`]);
  return (
    <main class={`page ${kind}`} data-run={runId} style={Object.fromEntries(sizes)}>
      {kind === 'run' && (
        <>
          <section class="story-area" aria-label="Story">
            <ErrorBoundary name="The story" resetKey={`${runId} ${view.count}`}>
              <StoryColumn key={runId} inspector={inspector} view={view} />
            </ErrorBoundary>
          </section>
          <Separator pane="story" />
        </>
      )}
      <section class="chart-area" aria-label="Chart">
        <ErrorBoundary name="The chart" resetKey={runId}>
          <ChartPanel inspector={inspector} view={view} />
        </ErrorBoundary>
      </section>
      <Separator pane="step" />
      <section class="step-area" aria-label="Details">
        <StepOrView inspector={inspector} view={view} />
      </section>
      <Separator pane="time" />
      <section class="timeline-area" aria-label="Time">
        <ErrorBoundary name="The timeline" resetKey={runId}>
          <Timeline inspector={inspector} view={view} />
        </ErrorBoundary>
      </section>
    </main>
  );
}

function StepOrView({ inspector, view }: PanelProps) {
  const name = activePanel.value;
  if (!isRunView(name) || !isAvailable(name, inspector.connection.value))
    return <StepPanel inspector={inspector} view={view} />;
  const View = views[name];
  const title = RUN_VIEWS.find((one) => one.name === name)?.title ?? '';
  return (
    <>
      <div class="view-head">
        <h2>{title}</h2>
        <button type="button" onClick={() => showPanel('reply')}>
          Back to the step
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
      <section class="panel" id="panel" aria-label={title} tabIndex={0}>
        <ErrorBoundary key={name} name={title} resetKey={`${view.run.runId} ${view.at}`}>
          <View inspector={inspector} view={view} />
        </ErrorBoundary>
      </section>
    </>
  );
}

const MARKS: Readonly<Record<string, string>> = {
  completed: '✓',
  degraded: '!',
  cancelled: '✕',
  damaged: '✕',
  interrupted: '⏸',
  waiting: '⏸',
};

const COLORS: Readonly<Record<string, string>> = {
  completed: '1a6e3c',
  degraded: 'c77d00',
  cancelled: 'b0231b',
  damaged: 'b0231b',
};

function faviconOf(view: RunView | null): string {
  const color = view === null || view.run.live ? '1450b8' : (COLORS[view.run.status] ?? '77839a');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#${color}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** The state of a run as one character, for the title of the page. */
const titleMark = ({ run: { live, status } }: RunView): string => (live ? '●' : (MARKS[status] ?? '·'));

const helpKey = (act: () => void): Key => ({ keys: ['?'], description: 'Show the keys', group: 'Page', act });

function panelKeys(): readonly Key[] {
  return [...STEP_TABS, ...RUN_VIEWS].slice(0, 9).map(({ name, title }, index) => ({
    keys: [String(index + 1)],
    description: title,
    group: 'Panels',
    act: () => showPanel(name),
  }));
}
