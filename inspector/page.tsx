import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ActPanel } from './panels/act/act-panel.tsx';
import { ChartPanel } from './panels/chart-panel.tsx';
import { ComparePanel } from './panels/compare/compare-panel.tsx';
import { ContextPanel } from './panels/context/context-panel.tsx';
import { searchKey } from './panels/events/event-search.tsx';
import { EventsPanel } from './panels/events/events-panel.tsx';
import { PageHeader } from './panels/header/page-header.tsx';
import { HelpSheet } from './panels/help/help-sheet.tsx';
import { OutputPanel } from './panels/output/output-panel.tsx';
import { OverlayPanel } from './panels/overlay/overlay-panel.tsx';
import { ErrorBoundary, type PanelProps, Tabs } from './panels/panel.tsx';
import { RunsTable } from './panels/runs/runs-table.tsx';
import { Timeline } from './panels/timeline/timeline.tsx';
import { WhyPanel } from './panels/why/why-panel.tsx';
import type { Inspector } from './ui-state/inspector.ts';
import { addKeys, type Key, listenToKeys } from './ui-state/keys.ts';
import { activePanel, PANELS, type PanelName } from './ui-state/panel.ts';

const panels: Readonly<Record<PanelName, ComponentType<PanelProps>>> = {
  why: WhyPanel,
  output: OutputPanel,
  context: ContextPanel,
  events: EventsPanel,
  act: ActPanel,
  compare: ComparePanel,
  overlay: OverlayPanel,
};

/** The chart, a panel and the timeline, all at the same entry of one run. */
export function Page({ inspector }: { readonly inspector: Inspector }) {
  const [helps, setHelps] = useState(false);
  useEffect(() => listenToKeys(document), []);
  useEffect(() => addKeys([...panelKeys(), searchKey, helpKey(() => setHelps(true))]), []);
  const view = inspector.view.value;
  const Panel = panels[activePanel.value];
  const title = PANELS.find(({ name }) => name === activePanel.value)?.title ?? '';
  return (
    <>
      <PageHeader inspector={inspector} view={view} onHelp={() => setHelps(true)} />
      {view === null ? (
        <ErrorBoundary name="The list of runs" resetKey="">
          <RunsTable inspector={inspector} />
        </ErrorBoundary>
      ) : (
        <main class="page" data-run={view.run.runId}>
          <section class="chart-area" aria-label="Chart">
            <ErrorBoundary name="The chart" resetKey={view.run.runId}>
              <ChartPanel inspector={inspector} view={view} />
            </ErrorBoundary>
          </section>
          <section class="panel-area" aria-label="Details">
            <Tabs />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
            <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${activePanel.value}`} tabIndex={0}>
              <ErrorBoundary key={activePanel.value} name={title} resetKey={`${view.run.runId} ${view.at}`}>
                <Panel inspector={inspector} view={view} />
              </ErrorBoundary>
            </div>
          </section>
          <section class="timeline-area" aria-label="Time">
            <ErrorBoundary name="The timeline" resetKey={view.run.runId}>
              <Timeline inspector={inspector} view={view} />
            </ErrorBoundary>
          </section>
        </main>
      )}
      {helps && <HelpSheet onClose={() => setHelps(false)} />}
    </>
  );
}

const helpKey = (act: () => void): Key => ({ keys: ['?'], description: 'Show the keys', group: 'Page', act });

function panelKeys(): readonly Key[] {
  return PANELS.map(({ name, title }, index) => ({
    keys: [String(index + 1)],
    description: title,
    group: 'Panels',
    act: () => {
      activePanel.value = name;
    },
  }));
}
