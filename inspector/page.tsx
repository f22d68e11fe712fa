import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ActPanel } from './panels/act/act-panel.tsx';
import { ChartPlace } from './panels/chart-place.tsx';
import { ComparePanel } from './panels/compare/compare-panel.tsx';
import { ContextPanel } from './panels/context/context-panel.tsx';
import { searchKey } from './panels/events/event-search.tsx';
import { EventsPanel } from './panels/events/events-panel.tsx';
import { PageHeader } from './panels/header/page-header.tsx';
import { HelpSheet } from './panels/help/help-sheet.tsx';
import { OutputPanel } from './panels/output/output-panel.tsx';
import { OverlayPanel } from './panels/overlay/overlay-panel.tsx';
import { Guarded, type PanelProps, Tabs } from './panels/panel.tsx';
import { Timeline } from './panels/timeline/timeline.tsx';
import { WhyPanel } from './panels/why/why-panel.tsx';
import type { Inspector } from './ui-state/inspector.ts';
import { addKeys, type Key, listenToKeys } from './ui-state/keys.ts';
import { PANELS, type PanelName, shownPanel } from './ui-state/panel.ts';

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
  const Panel = panels[shownPanel.value];
  const title = PANELS.find(({ name }) => name === shownPanel.value)?.title ?? '';
  return (
    <>
      <PageHeader inspector={inspector} view={view} onHelp={() => setHelps(true)} />
      {view === null ? (
        <main class="no-run">
          <p key={nothingToShow(inspector)}>{nothingToShow(inspector)}</p>
        </main>
      ) : (
        <main class="page">
          <section class="chart-place" aria-label="Chart">
            <Guarded name="The chart" when={view.run.runId}>
              <ChartPlace inspector={inspector} view={view} />
            </Guarded>
          </section>
          <section class="panel-place" aria-label="Details">
            <Tabs />
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
            <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${shownPanel.value}`} tabIndex={0}>
              <Guarded key={shownPanel.value} name={title} when={`${view.run.runId} ${view.at}`}>
                <Panel inspector={inspector} view={view} />
              </Guarded>
            </div>
          </section>
          <section class="time-place" aria-label="Time">
            <Guarded name="The timeline" when={view.run.runId}>
              <Timeline inspector={inspector} view={view} />
            </Guarded>
          </section>
        </main>
      )}
      {helps && <HelpSheet onClose={() => setHelps(false)} />}
    </>
  );
}

const helpKey = (act: () => void): Key => ({ keys: ['?'], does: 'Show the keys', group: 'Page', act });

function panelKeys(): readonly Key[] {
  return PANELS.map(({ name, title }, place) => ({
    keys: [String(place + 1)],
    does: title,
    group: 'Panels',
    act: () => {
      shownPanel.value = name;
    },
  }));
}

function nothingToShow({ connection, runs }: Inspector): string {
  if (connection.value === 'connecting') return 'Connecting…';
  if (connection.value === 'lost') return 'The inspector is not running or cannot be reached. Start it again.';
  return runs.value.length === 0 ? 'No runs yet. Start one with: postchain run "a question"' : 'Choose a run.';
}
