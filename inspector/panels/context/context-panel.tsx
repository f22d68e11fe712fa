import { useEffect } from 'preact/hooks';
import './context.css';
import { type ContextAt, contextAt } from '../../fold/context-at.ts';
import { counted, grouped } from '../../fold/number-words.ts';
import { addKeys } from '../../ui-state/keys.ts';
import type { PanelProps } from '../panel-props.ts';
import { ActorContexts } from './actor-contexts.tsx';
import { BudgetView } from './budget-view.tsx';
import { base, PARTS, type Part, shownPart } from './context-choice.ts';
import { DifferenceView } from './difference-view.tsx';
import { MessageList } from './message-list.tsx';
import { OperationList } from './operation-list.tsx';

/** The context of a run at the cursor: what is in it, what was done to it and why, and what differs from another entry. */
export function ContextPanel({ inspector, view }: PanelProps) {
  const { run, log, fold, at } = view;
  const pin = (): void => {
    const now = inspector.view.value;
    if (now !== null) base.value = { runId: now.run.runId, seq: now.at };
  };
  // What the key does looks at what is shown then.
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
        <p>{isSystem ? <>The contexts of the actors at entry {grouped(at)}</> : <Size context={context} />}</p>
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
        {by === 'states' ? 'as it was at this entry' : 'as its operations tell: this journal keeps no states'}
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
      return `What was done ${grouped(counts.operations)}`;
    case 'budget':
      return 'Budget';
    case 'difference':
      return pinned === null ? 'Difference' : `Difference from entry ${grouped(pinned)}`;
    default:
      return part satisfies never;
  }
}
