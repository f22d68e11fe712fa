import './context.css';
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { budgetAt, type Meter } from '../../fold/budget-at.ts';
import { type ContextAt, contextAt, endOfChanges } from '../../fold/context-at.ts';
import { formatDuration, formatNumber, pluralize } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { addKeys } from '../../ui-state/keys.ts';
import { EntryLink } from '../entry-link.tsx';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { DifferenceView } from './difference-view.tsx';
import { base } from './list-parts.tsx';
import { MessageList } from './message-list.tsx';
import { OperationList } from './operation-list.tsx';

const PARTS = ['difference', 'messages', 'operations', 'budget'] as const;

type Part = (typeof PARTS)[number];

/** The chosen part of the panel; by default the change in the step, and in other programs the contexts. */
const activePart = signal<Part | null>(null);

export function ContextPanel({ inspector, view }: PanelProps) {
  const { run, fold, at, selection } = view;
  const pin = (): void => {
    const now = inspector.view.value;
    if (now !== null) base.value = { runId: now.run.runId, seq: now.at };
  };
  // The key handler reads the latest view.
  useEffect(
    () => addKeys([{ keys: ['m'], description: 'Compare the context from here', group: 'Panels', act: pin }]),
    [],
  );
  const isSystem = run.kind === 'system';
  // While a run is followed, the difference would change with every entry.
  const isFollowing = run.live && inspector.cursor.value === null;
  const context = contextAt(fold, at);
  const pinned = base.value?.runId === run.runId ? base.value.seq : null;
  const parts = isSystem ? (['difference', 'messages'] as const) : PARTS;
  const part = parts.find((name) => name === activePart.value) ?? (isSystem || isFollowing ? 'messages' : 'difference');
  const titles: Readonly<Record<Part, string>> = {
    messages: isSystem ? 'Contexts' : `Messages ${formatNumber(context.messages.length)}`,
    operations: `Operations ${formatNumber(fold.context.appliedAt(at))}`,
    budget: 'Budget',
    difference: pinned === null ? 'Change in this step' : `Difference from entry ${formatNumber(pinned)}`,
  };
  return (
    <div class="context">
      <div class="context-head row">
        <p class="one-line">
          {isSystem ? <>Actor contexts at entry {formatNumber(at)}</> : <ContextSize context={context} />}
        </p>
        <button type="button" onClick={pin} title="Key m">
          Compare from here
        </button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls */}
      <div class="parts row" role="group" aria-label="Parts of the context">
        {parts.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === part}
            onClick={() => {
              activePart.value = name;
            }}
          >
            {titles[name]}
          </button>
        ))}
      </div>
      {part === 'messages' && isSystem && <ActorContexts view={view} />}
      {part === 'messages' && !isSystem && <MessageList view={view} context={context} />}
      {part === 'operations' && <OperationList inspector={inspector} view={view} />}
      {part === 'budget' && <BudgetView inspector={inspector} view={view} context={context} />}
      {part === 'difference' && (
        <DifferenceView
          inspector={inspector}
          view={view}
          from={pinned ?? Math.max(0, Math.min(selection.from, at) - 1)}
          to={pinned === null ? endOfChanges(fold, selection, at, view.count) : at}
        />
      )}
    </div>
  );
}

function ContextSize({ context: { messages, by } }: { readonly context: ContextAt }) {
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  return (
    <>
      {pluralize(messages.length, 'message')}, {pluralize(chars, 'character')}{' '}
      <span class="muted">
        {by === 'states' ? 'from the state of the chart' : 'derived from the operations so far'}
      </span>
    </>
  );
}

function ActorContexts({ view: { fold, at } }: { readonly view: RunView }) {
  const contexts = fold.states.at(at);
  if (typeof contexts !== 'object' || contexts === null)
    return <p class="muted">No actor context is recorded up to this entry.</p>;
  return (
    <>
      {Object.entries(contexts).map(([name, context]) => (
        <section key={name} aria-label={`Context of ${name}`}>
          <h2 class="verbatim">{excerpt(name, 80)}</h2>
          <JsonTree value={context} />
        </section>
      ))}
    </>
  );
}

interface BudgetViewProps extends PanelProps {
  readonly context: ContextAt;
}

function BudgetView({ inspector, view: { log, fold, at }, context }: BudgetViewProps) {
  const budget = useMemo(() => budgetAt(log, fold, context, at), [log, fold, context, at]);
  if (budget === null) return <p class="muted">The journal does not record the limits of this run.</p>;
  const { evaluated } = budget;
  return (
    <>
      <Meters name="The context" meters={budget.context} />
      {evaluated === null ? (
        <p class="muted">Understanding has not measured the context yet.</p>
      ) : (
        <div class="reason">
          Last measured by Understanding in step {evaluated.step}{' '}
          <EntryLink seq={evaluated.seq} moveTo={inspector.moveTo} />: {statisticsText(evaluated.statistics)}
          {evaluated.problem !== null && <p class="verbatim">Not measured: {excerpt(evaluated.problem, 300)}</p>}
        </div>
      )}
      <Meters name="The run" meters={budget.run} />
    </>
  );
}

type Statistics = NonNullable<NonNullable<ReturnType<typeof budgetAt>>['evaluated']>['statistics'];

function statisticsText(statistics: Statistics): string {
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter, estimated, pruned, summarized } = statistics;
  const { tokensOver, messagesOver } = statistics;
  const over = [
    ...(tokensOver > 0 ? [pluralize(tokensOver, 'token')] : []),
    ...(messagesOver > 0 ? [pluralize(messagesOver, 'message')] : []),
  ];
  return [
    `${formatNumber(messagesBefore)} to ${pluralize(messagesAfter, 'message')}`,
    `${formatNumber(tokensBefore)} to ${pluralize(tokensAfter, 'token')}${estimated ? ' (characters / 4)' : ''}`,
    `${pruned} pruned`,
    `${summarized} summarized`,
    ...(over.length === 0 ? [] : [`still over its limit by ${over.join(' and ')}`]),
  ].join(', ');
}

function Meters({ name, meters }: { readonly name: string; readonly meters: readonly Meter[] }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <ul class="meters stack">
        {meters.map((meter) => (
          <MeterItem key={meter.name} meter={meter} />
        ))}
      </ul>
    </section>
  );
}

/** From this share on, a meter is marked as nearly full. */
const NEAR = 0.8;

function MeterItem({ meter: { name, value, limit, unit, note } }: { readonly meter: Meter }) {
  const share = limit > 0 ? value / limit : value > 0 ? 2 : 0;
  const state = share > 1 ? 'over' : share >= NEAR ? 'near' : 'ok';
  const numbers =
    unit === 'ms'
      ? `${formatDuration(value)} of ${formatDuration(limit)}`
      : `${formatNumber(value)} of ${pluralize(limit, unit.slice(0, -1))}`;
  const words = `${numbers} · ${limit > 0 ? `${Math.round(share * 1_000) / 10} %` : 'none allowed'}${
    state === 'over' ? ', over its limit' : ''
  }`;
  return (
    <li class={state}>
      <span>{name}</span>
      <span class="numbers">{words}</span>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${Math.min(1, share) * 100}%` }} />
      </span>
      {note !== null && <span class="muted note">{note}</span>}
    </li>
  );
}
