import './prompt.css';
import './tools.css';
import type { ComponentType } from 'preact';
import type { RecordedPrompt } from '../../../src/chain/journal/recorded-prompts.ts';
import { formatDuration, formatScore, pluralize } from '../../fold/format.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import { type NumberedCall, promptSeq, stepCalls, type ToolUse, toolUses } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { activePanel, STEP_TABS, type StepTab, showPanel } from '../../ui-state/panel.ts';
import { ContextPanel } from '../context/context-panel.tsx';
import { EntryLink } from '../entry-link.tsx';
import { EventsPanel } from '../events/events-panel.tsx';
import { JsonTree } from '../json-tree.tsx';
import { LongText } from '../long-text.tsx';
import { ErrorBoundary, type PanelProps } from '../panel.tsx';
import { WhyPanel } from '../why/why-panel.tsx';
import { CallChips } from './call-chips.tsx';
import { answerOfStep, ReplyTab } from './reply-tab.tsx';

function ToolsTab({ inspector, view: { log, fold, selection, at } }: PanelProps) {
  const uses = toolUses(log, fold, selection, at);
  return (
    <div class="tools">
      {uses.length === 0 && <p class="muted">This step used no tools.</p>}
      {uses.map((use) =>
        use.kind === 'capability' ? (
          <CapabilityCard key={use.from} use={use} moveTo={inspector.moveTo} />
        ) : (
          <SearchCard key={use.from} use={use} moveTo={inspector.moveTo} />
        ),
      )}
    </div>
  );
}

interface CardProps<Kind extends ToolUse['kind']> {
  readonly use: Extract<ToolUse, { readonly kind: Kind }>;
  readonly moveTo: (seq: number) => void;
}

function CapabilityCard({ use: { name, from, result }, moveTo }: CardProps<'capability'>) {
  return (
    <section class="card stack" aria-label={`Tool ${name}`}>
      <header class="row">
        <h2 class="verbatim">{excerpt(name, 80)}</h2>
        <span class={result?.success === false ? 'wrong' : 'muted'}>
          {result === null
            ? 'running'
            : `${result.success ? 'done' : 'failed'} in ${formatDuration(result.durationMs)}`}
        </span>
        <EntryLink seq={from} moveTo={moveTo} />
      </header>
      {result !== null && (
        <>
          <h3>Arguments</h3>
          {Object.keys(result.arguments).length === 0 ? (
            <p class="muted">none</p>
          ) : (
            <JsonTree value={result.arguments} />
          )}
          {result.error !== null && (
            <p class="wrong verbatim">
              {result.code !== null && <code>{result.code}</code>} <LongText text={result.error} />
            </p>
          )}
          {result.success && (
            <>
              <h3>{result.synthesized ? 'Result, replaced by the model' : 'Result'}</h3>
              <Output text={result.output} />
            </>
          )}
        </>
      )}
    </section>
  );
}

function Output({ text }: { readonly text: string }) {
  const value = valueIn(text);
  return value === undefined ? <LongText text={text} chars={1_200} /> : <JsonTree value={value} />;
}

function valueIn(text: string): unknown {
  if (!/^\s*[[{]/u.test(text) || text.length > 100_000) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_PASSAGES = 30;

function SearchCard({ use: { from, result, failure, ms }, moveTo }: CardProps<'retrieval'>) {
  const passages = Array.isArray(result?.passages) ? result.passages : [];
  return (
    <section class="card stack" aria-label="Document search">
      <header class="row">
        <h2>Document search</h2>
        <span class={failure === null ? 'muted' : 'wrong'}>
          {ms === null
            ? 'running'
            : `${failure === null ? pluralize(passages.length, 'passage') : 'failed'} in ${formatDuration(ms)}`}
        </span>
        <EntryLink seq={from} moveTo={moveTo} />
      </header>
      {failure !== null && (
        <p class="wrong verbatim">
          <LongText text={failure} />
        </p>
      )}
      {result !== null && (
        <>
          <p>
            <span class="muted">Query{result.widened && ', widened because it found nothing'}:</span>{' '}
            <LongText text={String(result.query)} />
          </p>
          <ol class="passages stack">
            {passages.slice(0, MAX_PASSAGES).map(({ id, text, heading, source, relevance }) => (
              <li key={id}>
                <p class="muted verbatim">
                  {excerpt([source?.path, ...(heading ?? [])].join(' › '), 160)}, relevance {formatScore(relevance)}
                </p>
                <LongText text={text} chars={600} />
              </li>
            ))}
          </ol>
          {passages.length > MAX_PASSAGES && <p class="muted">and {passages.length - MAX_PASSAGES} more</p>}
        </>
      )}
    </section>
  );
}

function PromptTab({ inspector, view }: PanelProps) {
  const calls = stepCalls(view.fold, view.selection, view.at);
  if (calls === null) return <p class="muted">This step made no model call.</p>;
  return (
    <div class="prompt">
      <CallChips inspector={inspector} view={view} calls={calls} />
      <PromptOfCall key={calls.selected.number} view={view} call={calls.selected} />
    </div>
  );
}

interface PromptOfCallProps {
  readonly view: RunView;
  readonly call: NumberedCall;
}

function PromptOfCall({ view: { log, fold }, call }: PromptOfCallProps) {
  const seq = promptSeq(log, fold, call);
  const prompt = seq === null ? null : fold.prompts.at(seq);
  if (prompt === null) return <p class="muted">The prompt of this call is not recorded.</p>;
  return <PromptView prompt={prompt} />;
}

function PromptView({ prompt }: { readonly prompt: RecordedPrompt }) {
  const { name, version, isEdited, turns, schema, tools } = prompt;
  const chars = turns.reduce((sum, { content }) => sum + content.length, 0);
  return (
    <>
      <p class="prompt-head">
        <b class="verbatim">{excerpt(name, 60)}</b>{' '}
        <span class="muted">
          version {version}, {pluralize(chars, 'character')}
        </span>{' '}
        {isEdited && <span class="pill degraded">edited for this call</span>}
      </p>
      {turns.map(({ role, ...turn }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the turns of a prompt never change
        <TurnCard key={index} by={role} content={textOf(turn)} chars={role === 'system' ? SYSTEM_CHARS : TURN_CHARS} />
      ))}
      {schema !== null && schema !== undefined && (
        <details class="card" open>
          <summary>Schema of the reply</summary>
          <JsonTree value={schema} />
        </details>
      )}
      {tools.length > 0 && (
        <details class="card">
          <summary>{pluralize(tools.length, 'tool')} offered</summary>
          <JsonTree value={tools} />
        </details>
      )}
    </>
  );
}

/** Returns the text of a turn with the tool calls that the model made in it, or the call whose result it is. */
function textOf({ content, toolCalls = [], toolResult }: Omit<RecordedPrompt['turns'][number], 'role'>): string {
  const calls = toolCalls.map(({ id, name, arguments: given }) => `${name}(${given}) [${id}]`);
  return [...(toolResult ? [`${toolResult.name} [${toolResult.id}]`] : []), content, ...calls]
    .filter(Boolean)
    .join('\n');
}

const SYSTEM_CHARS = 1_500;
const TURN_CHARS = 4_000;

interface TurnCardProps {
  readonly by: string;
  readonly content: string;
  readonly chars: number;
}

function TurnCard({ by, content, chars }: TurnCardProps) {
  return (
    <section class={`card turn ${by}`} aria-label={`${by} turn`}>
      <h2>{by}</h2>
      <LongText text={content} chars={chars} />
    </section>
  );
}

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
