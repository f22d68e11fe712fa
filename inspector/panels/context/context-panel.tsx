import './context.css';
import { useEffect, useMemo } from 'preact/hooks';
import { budgetAt, type Meter } from '../../fold/budget-at.ts';
import { type ContextAt, contextAt, stateAt } from '../../fold/context-at.ts';
import { counted, duration, grouped } from '../../fold/format.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { addKeys } from '../../ui-state/keys.ts';
import { shortly } from '../../ui-state/text.ts';
import { JsonTree } from '../json-tree.tsx';
import type { PanelProps } from '../panel.tsx';
import { DifferenceView } from './difference-view.tsx';
import { base, PARTS, type Part, shownPart } from './list-parts.tsx';
import { MessageList } from './message-list.tsx';
import { OperationList } from './operation-list.tsx';

/** The context at the cursor: messages, operations with reasons, budget, and the difference from another entry. */
export function ContextPanel({ inspector, view }: PanelProps) {
  const { run, log, fold, at } = view;
  const pin = (): void => {
    const now = inspector.view.value;
    if (now !== null) base.value = { runId: now.run.runId, seq: now.at };
  };
  // The key handler reads the latest view.
  useEffect(() => addKeys([{ keys: ['m'], does: 'Compare the context from here', group: 'Panels', act: pin }]), []);
  const isSystem = run.kind === 'system';
  const context = contextAt(log, fold, at);
  const pinned = base.value?.runId === run.runId ? base.value.seq : null;
  const parts = isSystem ? (['messages', 'difference'] as const) : PARTS;
  const part = parts.find((name) => name === shownPart.value) ?? 'messages';
  const counts = { messages: context.messages.length, operations: fold.context.appliedBy(at) };
  return (
    <div class="context">
      <div class="context-head">
        <p>{isSystem ? <>Actor contexts at entry {grouped(at)}</> : <Size context={context} />}</p>
        <button type="button" onClick={pin} title="Key m">
          Compare from here
        </button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in */}
      <div class="parts" role="group" aria-label="Parts of the context">
        {parts.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === part}
            onClick={() => {
              shownPart.value = name;
            }}
          >
            {titleOf(name, isSystem, counts, pinned)}
          </button>
        ))}
      </div>
      {part === 'messages' && isSystem && <ActorContexts view={view} />}
      {part === 'messages' && !isSystem && <MessageList view={view} context={context} />}
      {part === 'operations' && <OperationList inspector={inspector} view={view} />}
      {part === 'budget' && <BudgetView inspector={inspector} view={view} context={context} />}
      {part === 'difference' && <DifferenceView inspector={inspector} view={view} from={pinned} onPin={pin} />}
    </div>
  );
}

function Size({ context: { messages, by } }: { readonly context: ContextAt }) {
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
  return (
    <>
      {counted(messages.length, 'message')}, {counted(chars, 'character')}{' '}
      <span class="muted">
        {by === 'states'
          ? 'as recorded at this entry'
          : 'derived from its operations: this journal has no state snapshots'}
      </span>
    </>
  );
}

function titleOf(
  part: Part,
  isSystem: boolean,
  counts: { readonly messages: number; readonly operations: number },
  pinned: number | null,
): string {
  switch (part) {
    case 'messages':
      return isSystem ? 'Contexts' : `Messages ${grouped(counts.messages)}`;
    case 'operations':
      return `Operations ${grouped(counts.operations)}`;
    case 'budget':
      return 'Budget';
    case 'difference':
      return pinned === null ? 'Difference' : `Difference from entry ${grouped(pinned)}`;
    default:
      return part satisfies never;
  }
}

/** The contexts of the actors of a foreign system at the cursor, by their names. */
function ActorContexts({ view: { log, fold, at } }: { readonly view: RunView }) {
  const contexts = stateAt(log, fold.places, at);
  if (typeof contexts !== 'object' || contexts === null)
    return <p class="muted">No actor context is recorded up to this entry.</p>;
  return (
    <>
      {Object.entries(contexts).map(([name, context]) => (
        <section key={name} aria-label={`Context of ${name}`}>
          <h2 class="told">{shortly(name, 80)}</h2>
          <JsonTree value={context} />
        </section>
      ))}
    </>
  );
}

interface BudgetViewProps extends PanelProps {
  readonly context: ContextAt;
}

/** What the context and the run have used at the cursor, of what they may. */
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
        <div class="why">
          Last measured by Understanding in step {evaluated.step}{' '}
          <button type="button" class="quiet" onClick={() => inspector.moveTo(evaluated.seq)}>
            entry {grouped(evaluated.seq)}
          </button>
          : {evaluatedWords(evaluated.statistics)}
          {evaluated.problem !== null && <p class="told">Not measured: {shortly(evaluated.problem, 300)}</p>}
        </div>
      )}
      <Meters name="The run" meters={budget.run} />
    </>
  );
}

type Statistics = NonNullable<NonNullable<ReturnType<typeof budgetAt>>['evaluated']>['statistics'];

function evaluatedWords(statistics: Statistics): string {
  const { messagesBefore, messagesAfter, tokensBefore, tokensAfter, estimated, pruned, summarised } = statistics;
  const { tokensOver, messagesOver } = statistics;
  const over = [
    ...(tokensOver > 0 ? [counted(tokensOver, 'token')] : []),
    ...(messagesOver > 0 ? [counted(messagesOver, 'message')] : []),
  ];
  return [
    `${grouped(messagesBefore)} to ${counted(messagesAfter, 'message')}`,
    `${grouped(tokensBefore)} to ${counted(tokensAfter, 'token')}${estimated ? ' (characters / 4)' : ''}`,
    `${pruned} pruned`,
    `${summarised} summarized`,
    ...(over.length === 0 ? [] : [`still over its limit by ${over.join(' and ')}`]),
  ].join(', ');
}

function Meters({ name, meters }: { readonly name: string; readonly meters: readonly Meter[] }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      <ul class="meters">
        {meters.map((meter) => (
          <MeterItem key={meter.name} meter={meter} />
        ))}
      </ul>
    </section>
  );
}

/** From this share on, and beyond the whole. */
const NEAR = 0.8;

function MeterItem({ meter: { name, value, limit, unit, note } }: { readonly meter: Meter }) {
  const share = limit > 0 ? value / limit : value > 0 ? 2 : 0;
  const state = share > 1 ? 'over' : share >= NEAR ? 'near' : 'well';
  const numbers =
    unit === 'ms'
      ? `${duration(value)} of ${duration(limit)}`
      : `${grouped(value)} of ${counted(limit, unit.slice(0, -1))}`;
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
