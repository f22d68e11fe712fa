import { useMemo, useState } from 'preact/hooks';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { contextOf } from '../../../machines/policies/context.ts';
import { type ContextChange, charsOf, contextChanges } from '../../../src/chain/journal/context-history.ts';
import { type Consent, type ContextLog, consentsAt } from '../../fold/context-log.ts';
import { formatDecimal, pluralize } from '../../fold/format.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import { excerpt } from '../../fold/text.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import type { PanelProps } from '../panel.tsx';
import { DifferenceText } from './difference-view.tsx';
import {
  clearUndoSelection,
  consentOf,
  lastPage,
  operationDetails,
  operationVerb,
  Pager,
  PhaseName,
  setUndone,
  sizeText,
  undoSelectionOf,
} from './list-parts.tsx';

/** The operation's metadata, except consent. */
function metadataText({ metadata }: ContextOperation): readonly string[] {
  return Object.entries(metadata ?? {})
    .filter(([name]) => name !== 'requiresConsent' && name !== 'consent')
    .map(
      ([name, value]) =>
        `${excerpt(name, 40)} ${typeof value === 'number' ? formatDecimal(value) : excerpt(String(value), 60)}`,
    );
}

const PAGE = 50;

export function OperationList({ inspector, view }: PanelProps) {
  const { run, fold, at } = view;
  const [requestedPage, setPage] = useState(0);
  const log = fold.context;
  const count = log.appliedAt(at);
  const page = Math.min(requestedPage, lastPage(count, PAGE));
  const undone = undoSelectionOf(run.runId);
  const overruledAt = lastUpTo(fold.entries.of('context-overruled'), at) ?? -1;
  const list = useMemo(() => {
    const from = count - 1 - page * PAGE;
    const numbers = Array.from({ length: Math.min(PAGE, from + 1) }, (_, index) => from - index);
    return groupsOf(log, numbers).map(({ name, step, phase, members }) => (
      <section key={`${name} ${members[0]}`} aria-label={name}>
        <h2>
          Step {step}: <PhaseName phase={phase} />
        </h2>
        <ul class="operations lined">
          {members.map((number) => (
            <OperationItem
              key={number}
              log={log}
              number={number}
              at={overruledAt}
              isUndone={undone.has(log.operations[number]?.operation.id ?? '')}
              onUndo={(id, on) => setUndone(run.runId, id, on)}
              moveTo={inspector.moveTo}
            />
          ))}
        </ul>
      </section>
    ));
  }, [log, count, page, undone, overruledAt, run.runId, inspector]);
  return (
    <>
      <UndoPreview view={view} undone={undone} />
      <ConsentList inspector={inspector} view={view} />
      <div class="list-head row">
        <span class="muted">Newest first. Select operations to preview undoing them.</span>
        <Pager page={page} pageSize={PAGE} count={count} noun="operations" onPage={setPage} />
      </div>
      {list}
      {count === 0 && <p class="muted">No operations yet.</p>}
    </>
  );
}

function groupsOf(log: ContextLog, numbers: readonly number[]) {
  const groups: { name: string; step: number; phase: ContextLog['operations'][number]['phase']; members: number[] }[] =
    [];
  for (const number of numbers) {
    const listed = log.operations[number];
    if (listed === undefined) continue;
    const { step, phase } = listed;
    const name = `Step ${step}: ${phase}`;
    const last = groups.at(-1);
    if (last?.name === name) last.members.push(number);
    else groups.push({ name, step, phase, members: [number] });
  }
  return groups;
}

interface OperationItemProps {
  readonly log: ContextLog;
  readonly number: number;
  /** The latest entry up to the cursor in which the user overruled or undid an operation; -1 for none. */
  readonly at: number;
  readonly isUndone: boolean;
  readonly onUndo: (id: string, on: boolean) => void;
  readonly moveTo: (seq: number) => void;
}

function OperationItem({ log, number, at, isUndone, onUndo, moveTo }: OperationItemProps) {
  const listed = log.operations[number];
  const seq = log.seqs[number];
  if (listed === undefined || seq === undefined) return null;
  const { operation } = listed;
  const pruning = log.prunings.get(operation.id)?.pruning;
  const numbers = metadataText(operation);
  const askedAt = consentOf(operation);
  // Skipped if the operation has its own values.
  const relevance = operation.metadata?.['relevance'] === undefined ? (pruning?.relevance ?? null) : null;
  return (
    <li>
      <label class="operation">
        <input
          type="checkbox"
          checked={isUndone}
          onChange={({ currentTarget }) => onUndo(operation.id, currentTarget.checked)}
        />
        <span>
          <strong>{operationVerb(operation)}</strong> <code class="verbatim">{excerpt(operation.target, 48)}</code>{' '}
          <span class="verbatim">{operationDetails(operation)}</span> <span class="muted">{sizeText(listed)}</span>
        </span>
      </label>
      <EntryLink seq={seq} moveTo={moveTo} />
      <p class="reason">
        <span class="verbatim">{excerpt(operation.reason, 300)}</span>
        {askedAt !== null && <span> · {askedAt}</span>}
        {listed.undoneAt !== null && listed.undoneAt <= at && (
          <span>
            {' '}
            · undone by the user <EntryLink seq={listed.undoneAt} moveTo={moveTo} />
          </span>
        )}
        {relevance !== null && <span class="muted"> · relevance {formatDecimal(relevance)}</span>}
      </p>
      {pruning !== undefined && <p class="reason verbatim muted">“{excerpt(pruning.preview, 120)}”</p>}
      {numbers.length > 0 && <p class="reason numbers muted verbatim">{numbers.join(' · ')}</p>}
    </li>
  );
}

const GIVEN_BY = {
  user: 'by the user',
  option: 'by a configured option',
  default: 'by default, because nobody could be asked',
  'time-out': 'by timeout',
} as const;

const MAX_LISTED = 10;

function ConsentList({ inspector, view: { log, fold, at } }: PanelProps) {
  const consents = consentsAt(log, fold.entries, at, MAX_LISTED);
  if (consents.length === 0) return null;
  return (
    <ul class="card consents" aria-label="Consent">
      {consents.map((consent) => (
        <li key={consent.askedAt}>
          <strong>consent</strong> asked about {pluralize(consent.request.items.length, 'message')}
          {', '}
          {settled(consent)} <EntryLink seq={consent.askedAt} moveTo={inspector.moveTo} />
          <p class="reason verbatim muted">
            {consent.request.items
              .slice(0, 5)
              .map(({ preview, chars }) => `“${excerpt(preview, 60)}” (${pluralize(chars, 'character')})`)
              .join(' · ')}
          </p>
        </li>
      ))}
    </ul>
  );
}

function settled({ resolved }: Consent): string {
  if (resolved === null) return 'not resolved yet';
  const { kept, summarized, removed, by } = resolved;
  return `resolved ${GIVEN_BY[by]}: ${kept} kept, ${summarized} summarized, ${removed} removed`;
}

const MAX_MESSAGES = 50;

const WORDS = { back: 'restored', changed: 'changed', gone: 'removed' } as const;

interface UndoPreviewProps {
  readonly view: RunView;
  readonly undone: ReadonlySet<string>;
}

/** Previews the context without the selected operations; nothing is sent. */
function UndoPreview({ view: { fold, at }, undone }: UndoPreviewProps) {
  const log = fold.context;
  const count = log.appliedAt(at);
  // Ignores `at`: `count` covers it.
  const preview = useMemo(() => {
    const operations = log.operations.slice(0, count).map(({ operation }) => operation);
    const without = operations.filter(({ id }) => undone.has(id)).map(({ id }) => id);
    if (without.length === 0) return null;
    const document = { initial: log.initialMessagesAt(at), operations, undone: without };
    const before = contextOf({ ...document, undone: [] });
    const after = contextOf(document);
    return { without, before, after, changes: contextChanges(before, after) };
  }, [log, count, undone]);
  if (preview === null) return null;
  const { without, before, after, changes } = preview;
  return (
    <section class="card undo" aria-label="Undo preview">
      <div class="list-head row">
        <h2>Without {pluralize(without.length, 'operation')}</h2>
        <button type="button" onClick={clearUndoSelection}>
          Clear the selection
        </button>
      </div>
      <p role="status">
        {sizeOf(before)}; without: {sizeOf(after)}. <span class="muted">A preview only: nothing is sent or saved.</span>
      </p>
      {changes.length === 0 && <p class="muted">Undoing this changes no message.</p>}
      <ul>
        {changes.slice(0, MAX_MESSAGES).map((change) => (
          <Change key={change.messageId} change={change} />
        ))}
      </ul>
      {changes.length > MAX_MESSAGES && (
        <p class="muted">… and {pluralize(changes.length - MAX_MESSAGES, 'more message')}</p>
      )}
    </section>
  );
}

function Change({ change: { messageId, change, before, after } }: { readonly change: ContextChange }) {
  const shown = after ?? before;
  return (
    <li class={change}>
      <strong>{WORDS[change]}</strong> <code class="verbatim">{excerpt(messageId, 48)}</code>{' '}
      {before !== null && after !== null ? (
        <DifferenceText before={before} after={after} />
      ) : (
        <span class="verbatim">“{excerpt(shown?.content ?? '', 160)}”</span>
      )}
    </li>
  );
}

const sizeOf = (messages: readonly Message[]): string =>
  `${pluralize(messages.length, 'message')}, ${pluralize(charsOf(messages), 'character')}`;
