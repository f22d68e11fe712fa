import type { ComponentType } from 'preact';
import { lastStartedBy } from '../../fold/sorted.ts';
import { stepCalls, toolUses } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { activePanel, STEP_TABS, type StepTab, showPanel } from '../../ui-state/panel.ts';
import { ContextPanel } from '../context/context-panel.tsx';
import { EventsPanel } from '../events/events-panel.tsx';
import { ErrorBoundary, type PanelProps } from '../panel.tsx';
import { WhyPanel } from '../why/why-panel.tsx';
import { PromptTab } from './prompt-tab.tsx';
import { answerOfStep, ReplyTab } from './reply-tab.tsx';
import { ToolsTab } from './tools-tab.tsx';

const PANELS: Readonly<Record<StepTab, ComponentType<PanelProps>>> = {
  prompt: PromptTab,
  reply: ReplyTab,
  tools: ToolsTab,
  why: WhyPanel,
  context: ContextPanel,
  raw: EventsPanel,
};

function tabsOf(view: RunView): ReadonlySet<StepTab> {
  const { run, log, fold, selection, at } = view;
  if (run.kind === 'system') return new Set(['why', 'context', 'raw']);
  const hasCalls = stepCalls(fold, selection, at) !== null;
  const all: readonly (readonly [StepTab, boolean])[] = [
    ['prompt', hasCalls],
    ['reply', hasCalls || answerOfStep(view) !== null],
    ['tools', toolUses(log, fold, selection, at).length > 0],
    ['why', true],
    ['context', true],
    ['raw', true],
  ];
  return new Set(all.flatMap(([tab, applies]) => (applies ? [tab] : [])));
}

function fallback({ selection: { kind } }: RunView, tabs: ReadonlySet<StepTab>): StepTab {
  if (kind === 'operations') return 'context';
  return (['tools', 'reply', 'why'] as const).find((tab) => tabs.has(tab)) ?? 'why';
}

export function StepPanel(props: PanelProps) {
  const { inspector, view } = props;
  const tabs = tabsOf(view);
  // While the selection changes by itself, tabs are disabled instead of hidden, so that the others stay in place.
  const isFollowing = view.run.live && inspector.cursor.value === null;
  const listed = STEP_TABS.filter(({ name }) => tabs.has(name) || (isFollowing && view.run.kind === 'run'));
  const chosen = STEP_TABS.find(({ name }) => name === activePanel.value);
  const shown = chosen !== undefined && tabs.has(chosen.name) ? chosen.name : fallback(view, tabs);
  const Panel = PANELS[shown];
  return (
    <>
      <div class="tabs" role="tablist" aria-label="Selected step">
        {listed.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            class="plain"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === shown}
            aria-controls="panel"
            disabled={!tabs.has(name)}
            onClick={() => showPanel(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <p class="step-title muted one-line">{stepTitle(view)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`} tabIndex={0}>
        <ErrorBoundary key={shown} name={`The tab ${shown}`} resetKey={`${view.run.runId} ${view.at}`}>
          <Panel {...props} />
        </ErrorBoundary>
      </div>
    </>
  );
}

const KINDS: Readonly<Record<RunView['selection']['kind'], string>> = {
  phase: 'Phase',
  attempt: 'Model call',
  decision: 'Yield decision',
  capability: 'Tool',
  retrieval: 'Document search',
  operations: 'Context operations',
  state: 'State',
  entry: 'Entry',
};

/** Names the selected step: `Phase experience, cycle 2 · entries 55–71`. */
function stepTitle({ fold: { spans }, selection: { kind, from, to, stateId } }: RunView): string {
  const range = from === to ? `entry ${from}` : `entries ${from}–${to}`;
  const phase = lastStartedBy(spans.phases, to);
  const isInside = phase !== undefined && (phase.to === null || phase.to >= from);
  const where = !isInside ? '' : `${phase.phase}, cycle ${phase.cycle}`;
  if (kind === 'phase') return `Phase ${where} · ${range}`;
  if (kind === 'entry') return to > from ? `Answer · ${range}` : `Entry ${from}`;
  const name = stateId === undefined ? '' : ` ${excerpt(stateId, 80)}`;
  return [`${KINDS[kind]}${name}`, ...(where === '' ? [] : [where]), range].join(' · ');
}
