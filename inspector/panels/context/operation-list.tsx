import { useMemo, useState } from 'preact/hooks';
import type { Message } from '../../../machines/contracts/message.ts';
import { contextOf } from '../../../machines/policies/context.ts';
import { type ContextChange, charsOf, contextChanges } from '../../../src/journal/context-history.ts';
import { type Consent, type ContextLog, consentsBy } from '../../fold/context-log.ts';
import { counted, grouped, rounded } from '../../fold/format.ts';
import type { RunView } from '../../ui-state/inspector.ts';
import { shortly } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel.tsx';
import { DifferenceText } from './difference-view.tsx';
import {
  consentOf,
  doneBy,
  lastPage,
  numbersOf,
  Pager,
  PhaseName,
  setBy,
  sizeWords,
  tick,
  tickedOf,
  untickAll,
} from './list-parts.tsx';

const PAGE = 50;

/** Everything that was done to the context up to the cursor, the newest first, by the step and the phase that made it. */
export function OperationList({ inspector, view }: PanelProps) {
  const { run, fold, at } = view;
  const [wanted, setPage] = useState(0);
  const log = fold.context;
  const count = log.appliedBy(at);
  const page = Math.min(wanted, lastPage(count, PAGE));
  const undone = tickedOf(run.runId);
  const list = useMemo(() => {
    const from = count - 1 - page * PAGE;
    const numbers = Array.from({ length: Math.min(PAGE, from + 1) }, (_, place) => from - place);
    return groupsOf(log, numbers).map(({ name, step, phase, members }) => (
      <section key={`${name} ${members[0]}`} aria-label={name}>
        <h2>
          Step {step}: <PhaseName phase={phase} />
        </h2>
        <ul class="operations">
          {members.map((number) => (
            <OperationItem
              key={number}
              log={log}
              number={number}
              isUndone={undone.has(log.operations[number]?.operation.id ?? '')}
              onUndo={(id, on) => tick(run.runId, id, on)}
              onGo={inspector.moveTo}
            />
          ))}
        </ul>
      </section>
    ));
  }, [log, count, page, undone, run.runId, inspector]);
  return (
    <>
      <UndoPreview view={view} undone={undone} />
      <ConsentList inspector={inspector} view={view} />
      <div class="list-head">
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
  readonly isUndone: boolean;
  readonly onUndo: (id: string, on: boolean) => void;
  readonly onGo: (seq: number) => void;
}

function OperationItem({ log, number, isUndone, onUndo, onGo }: OperationItemProps) {
  const listed = log.operations[number];
  const seq = log.seqs[number];
  if (listed === undefined || seq === undefined) return null;
  const { operation } = listed;
  const pruning = log.prunings.get(operation.id)?.pruning;
  const numbers = numbersOf(operation);
  const asked = consentOf(operation);
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
          <strong>{doneBy(operation)}</strong> <code class="told">{shortly(operation.target, 48)}</code>{' '}
          <span class="told">{setBy(operation)}</span> <span class="muted">{sizeWords(listed)}</span>
        </span>
      </label>
      <button
        type="button"
        class="quiet"
        onClick={() => onGo(seq)}
        aria-label={`Go to entry ${seq}, which applied this operation`}
      >
        entry {grouped(seq)}
      </button>
      <p class="why">
        <span class="told">{shortly(operation.reason, 300)}</span>
        {asked !== null && <span> · {asked}</span>}
        {relevance !== null && <span class="muted"> · relevance {rounded(relevance)}</span>}
      </p>
      {pruning !== undefined && <p class="why told muted">“{shortly(pruning.preview, 120)}”</p>}
      {numbers.length > 0 && <p class="why numbers muted told">{numbers.join(' · ')}</p>}
    </li>
  );
}

const GIVEN_BY = {
  user: 'by the user',
  option: 'by a configured option',
  nobody: 'by default: nobody to ask',
  'time-out': 'by timeout',
} as const;

const MOST = 10;

/** A consent request for user messages, and how it was resolved. */
function ConsentList({ inspector, view: { log, fold, at } }: PanelProps) {
  const consents = consentsBy(log, fold.places, at, MOST);
  if (consents.length === 0) return null;
  return (
    <ul class="card consents" aria-label="Consent">
      {consents.map((consent) => (
        <li key={consent.asked}>
          <strong>consent</strong> asked about {counted(consent.request.items.length, 'message')}
          {', '}
          {settled(consent)}{' '}
          <button type="button" class="quiet" onClick={() => inspector.moveTo(consent.asked)}>
            entry {grouped(consent.asked)}
          </button>
          <p class="why told muted">
            {consent.request.items
              .slice(0, 5)
              .map(({ preview, chars }) => `“${shortly(preview, 60)}” (${counted(chars, 'character')})`)
              .join(' · ')}
          </p>
        </li>
      ))}
    </ul>
  );
}

function settled({ resolved }: Consent): string {
  if (resolved === null) return 'not resolved yet';
  const { kept, summarised, removed, by } = resolved;
  return `resolved ${GIVEN_BY[by]}: ${kept} kept, ${summarised} summarized, ${removed} removed`;
}

const MAX_MESSAGES = 50;

const WORDS = { back: 'comes back', changed: 'changes', gone: 'goes' } as const;

interface UndoPreviewProps {
  readonly view: RunView;
  /** The ids of the operations that are ticked. */
  readonly undone: ReadonlySet<string>;
}

/** What the context would be without some operations: a preview, nothing is sent. */
function UndoPreview({ view: { fold, at }, undone }: UndoPreviewProps) {
  const log = fold.context;
  const count = log.appliedBy(at);
  // Ignores `at`: `count` covers it.
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
        <p class="muted">… and {counted(changes.length - MAX_MESSAGES, 'more message')}</p>
      )}
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
