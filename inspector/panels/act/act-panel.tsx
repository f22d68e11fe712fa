import './act.css';
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { contextAt } from '../../fold/context-at.ts';
import { type Delivery, deliveriesOf } from '../../fold/deliveries.ts';
import { grouped } from '../../fold/number-words.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import { waitingAt } from '../../fold/waiting-at.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { shortJson } from '../../ui-state/short-json.ts';
import { visible } from '../../ui-state/text.ts';
import type { PanelProps } from '../panel-props.ts';
import { DirectForm } from './direct-form.tsx';
import { SchemaForm } from './schema-form.tsx';
import { SendButton } from './send-button.tsx';
import { WaitingPart } from './waiting-part.tsx';

/** Tells a live run something: always the run as it is now, wherever the cursor is. */
export function ActPanel({ inspector, view }: PanelProps) {
  const { run, log, fold, count } = view;
  const now = count - 1;
  const refusal = cannotBeTold(inspector, view);
  const wasTold = sent.value.some(({ runId }) => runId === run.runId);
  if (refusal !== null)
    return (
      <div class="act">
        <p>{refusal}</p>
        {wasTold && <SentList inspector={inspector} view={view} />}
      </div>
    );
  const isBusy = isUnderWay(run.runId);
  const send = (event: unknown): Promise<boolean> => tell(inspector, run.runId, event);
  const waiting = waitingAt(log, fold, now);
  const { state } = contextAt(log, fold, now);
  return (
    <div class="act">
      <PastNote inspector={inspector} view={view} />
      {waiting !== null && <WaitingPart waiting={waiting} isBusy={isBusy} onSend={send} />}
      <section aria-label="At any time">
        <h2>At any time</h2>
        <div class="buttons">
          <SendButton isBusy={isBusy} onSend={() => void send({ type: 'run.finished' })}>
            Finish now
          </SendButton>
          <CancelForm isBusy={isBusy} onSend={send} />
        </div>
        {waiting?.for !== 'direction' && (
          <details>
            <summary>Direct to a phase</summary>
            <DirectForm proposal="" isBusy={isBusy} onSend={send} />
          </details>
        )}
      </section>
      <SentList inspector={inspector} view={view} />
      <section aria-label="Every event">
        <h2>Every event that it takes</h2>
        {inspector.events.value.map((event) => (
          <details key={event.type}>
            <summary>
              <code>{event.type}</code>
            </summary>
            <SchemaForm
              event={event}
              current={event.type === 'run.adjusted' ? state : undefined}
              isBusy={isBusy}
              onSend={send}
            />
          </details>
        ))}
      </section>
    </div>
  );
}

/** Why nothing can be said; null where it can. */
function cannotBeTold({ connection }: Inspector, { run, log, fold, count }: RunView): string | null {
  if (run.kind === 'system')
    return 'This is a system of another program: from here it can be looked at, and not be told anything.';
  if (connection.value === 'file') return 'This page is a file: the run in it is over, and nothing can be told to it.';
  if (!run.live || lastUpTo(fold.places.of('run-end'), count) !== undefined)
    return 'This run is over: nothing can be told to it any more.';
  if (connection.value !== 'open') return 'The inspector is not connected: nothing can be told to the run just now.';
  return log.count === 0 ? 'The run has not begun yet.' : null;
}

/** The cursor may be in the past; what is said is not. */
function PastNote({ inspector, view: { at, count } }: PanelProps) {
  const isPast = inspector.cursor.value !== null && at < count - 1;
  return (
    <p class={isPast ? 'past note' : 'muted note'} role="note">
      {isPast
        ? `You look at entry ${grouped(at)}. What you say here reaches the run as it is now, at entry ${grouped(count - 1)}. `
        : 'What you say here reaches the run as it is now.'}
      {isPast && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            inspector.cursor.value = null;
          }}
        >
          Go there
        </button>
      )}
    </p>
  );
}

interface CancelFormProps {
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

/** Cancels a run, once somebody has said so twice. */
function CancelForm({ isBusy, onSend }: CancelFormProps) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const input = useRef<HTMLInputElement>(null);
  // Once: the page is drawn again with every entry that comes.
  useLayoutEffect(() => input.current?.focus(), [isOpen]);
  if (!isOpen)
    return (
      <button type="button" aria-expanded={false} onClick={() => setOpen(true)}>
        Cancel…
      </button>
    );

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const said = reason.trim();
    if (await onSend({ type: 'run.cancelled', ...(said !== '' && { reason: said }) })) setOpen(false);
  }

  return (
    <form
      class="cancel"
      aria-label="Cancel"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setOpen(false);
      }}
    >
      <label class="field">
        <span>
          Why <span class="muted">optional</span>
        </span>
        <input
          type="text"
          autocomplete="off"
          ref={input}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <div class="buttons">
        <SendButton isBusy={isBusy} submits>
          Cancel the run
        </SendButton>
        <button type="button" onClick={() => setOpen(false)}>
          Not now
        </button>
      </div>
    </form>
  );
}

/** What was sent to the run from this page, the newest first, and what became of it. */
function SentList({ inspector, view: { run, log, fold, count } }: PanelProps) {
  const all = sent.value.filter(({ runId }) => runId === run.runId);
  const told = all.filter(({ answer }) => answer?.problem === null).toReversed();
  const deliveries = deliveriesOf(log, fold.places, told, count - 1);
  const deliveryOf = new Map(told.map(({ id }, place) => [id, deliveries[place] ?? null]));
  return (
    <section aria-label="What was sent">
      <h2>What was sent</h2>
      <ul class="sent" aria-live="polite">
        {all.map((one) => {
          const delivery = deliveryOf.get(one.id) ?? null;
          return (
            <li key={one.id}>
              <code class="told">{shortJson(one.event, 200)}</code>
              <p class={one.answer?.problem ? 'wrong told' : 'outcome'}>
                {outcomeOf(one, delivery)}{' '}
                {delivery !== null && (
                  <button type="button" class="quiet" onClick={() => inspector.moveTo(delivery.seq)}>
                    entry {grouped(delivery.seq)}
                  </button>
                )}
              </p>
            </li>
          );
        })}
      </ul>
      {all.length === 0 && <p class="muted">Nothing yet.</p>}
    </section>
  );
}

function outcomeOf({ answer }: Sent, delivery: Delivery | null): string {
  if (answer === null) return 'under way…';
  if (answer.problem !== null) return `not told: ${visible(answer.problem)}`;
  if (delivery === null) return 'told';
  return delivery.isRefused ? 'told, delivered, and refused: it is no phase' : 'told, and delivered';
}

/** Something that a run was told from this page. */
interface Sent {
  readonly id: number;
  readonly runId: string;
  readonly event: unknown;
  /** How many entries were there: its delivery is none of them. */
  readonly from: number;
  /** What came of it; null while it is under way. `problem` is null where it was told. */
  readonly answer: { readonly problem: string | null } | null;
}

const MOST = 50;

/** Everything that was sent, the newest first. */
const sent = signal<readonly Sent[]>([]);

let nextId = 1;

/** Whether something is under way to a run: then nothing else is sent to it. */
const isUnderWay = (runId: string): boolean => sent.value.some((one) => one.runId === runId && one.answer === null);

/** Tells a run something, once. Gives whether it was told. */
async function tell(inspector: Inspector, runId: string, event: unknown): Promise<boolean> {
  if (isUnderWay(runId)) return false;
  const id = nextId;
  nextId += 1;
  const from = inspector.follow(runId).log.count;
  sent.value = [{ id, runId, event, from, answer: null }, ...sent.value].slice(0, MOST);
  const problem = await inspector.send(runId, event);
  sent.value = sent.value.map((one) => (one.id === id ? { ...one, answer: { problem } } : one));
  return problem === null;
}
