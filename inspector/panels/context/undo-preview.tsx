import { useMemo } from 'preact/hooks';
import type { Message } from '../../../machines/contracts/message.ts';
import { contextOf } from '../../../machines/policies/context.ts';
import { type ContextChange, charsOf, contextChanges } from '../../../src/journal/context-history.ts';
import { counted } from '../../fold/number-words.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import { untickAll } from './context-choice.ts';
import { DifferenceText } from './difference-text.tsx';

const MOST = 50;

const WORDS = { back: 'comes back', changed: 'changes', gone: 'goes' } as const;

interface UndoPreviewProps {
  readonly view: RunView;
  /** The ids of the operations that are ticked. */
  readonly undone: ReadonlySet<string>;
}

/** What the context would be without some operations: a preview, nothing is sent. */
export function UndoPreview({ view: { fold, at }, undone }: UndoPreviewProps) {
  const log = fold.context;
  const count = log.appliedBy(at);
  // `count` says when `at` makes a difference.
  const preview = useMemo(() => {
    const operations = log.operations.slice(0, count).map(({ operation }) => operation);
    const without = operations.filter(({ id }) => undone.has(id)).map(({ id }) => id);
    if (without.length === 0) return null;
    const document = { initial: log.begunBy(at), operations, undone: without };
    const before = contextOf({ ...document, undone: [] });
    const after = contextOf(document);
    return { without, before, after, changes: contextChanges(before, after) };
  }, [log, count, undone]);
  if (preview === null) return null;
  const { without, before, after, changes } = preview;
  return (
    <section class="card undo" aria-label="Undo preview">
      <div class="list-head">
        <h2>Without {counted(without.length, 'operation')}</h2>
        <button type="button" onClick={untickAll}>
          Untick all
        </button>
      </div>
      <p role="status">
        {sizeOf(before)}; without: {sizeOf(after)}.{' '}
        <span class="muted">A preview: nothing is sent, nothing is written.</span>
      </p>
      {changes.length === 0 && <p class="muted">It changes no message: nothing is left of what was done.</p>}
      <ul>
        {changes.slice(0, MOST).map((change) => (
          <Change key={change.messageId} change={change} />
        ))}
      </ul>
      {changes.length > MOST && <p class="muted">… and {counted(changes.length - MOST, 'more message')}</p>}
    </section>
  );
}

function Change({ change: { messageId, change, before, after } }: { readonly change: ContextChange }) {
  const shown = after ?? before;
  return (
    <li class={change}>
      <strong>{WORDS[change]}</strong> <code class="told">{shortly(messageId, 48)}</code>{' '}
      {before !== null && after !== null ? (
        <DifferenceText before={before} after={after} />
      ) : (
        <span class="told">“{shortly(shown?.content ?? '', 160)}”</span>
      )}
    </li>
  );
}

const sizeOf = (messages: readonly Message[]): string =>
  `${counted(messages.length, 'message')}, ${counted(charsOf(messages), 'character')}`;
