import './act.css';
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { ConsentChoice, ConsentRequest } from '../../../machines/contracts/context.ts';
import { formatDecimal, formatNumber, pluralize } from '../../fold/format.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import { excerpt, jsonExcerpt, revealHidden } from '../../fold/text.ts';
import { type Delivery, deliveriesOf, type Waiting, waitingAt } from '../../fold/user-events.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import { LongText } from '../long-text.tsx';
import type { PanelProps } from '../panel.tsx';
import { ApprovalForm } from './approval-form.tsx';
import { AdjustForm, CancelForm, DirectForm, type EventFormProps, JsonForm, SendButton } from './event-forms.tsx';
import { RecordedRun } from './recorded-run.tsx';

interface WaitingProps extends EventFormProps {
  readonly waiting: Waiting;
  /** When the run stops waiting, as milliseconds since 1970; null if that is unknown. */
  readonly keepsAtMs: number | null;
}

function Countdown({ toMs }: { readonly toMs: number }) {
  const [nowMs, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.ceil((toMs - nowMs) / 1_000);
  return seconds > 0 ? (
    <>
      {' '}
      in <b role="timer">{seconds} s</b>
    </>
  ) : null;
}

function WaitingForUser({ waiting, keepsAtMs, isBusy, onSend }: WaitingProps) {
  if (waiting.for === 'consent')
    return (
      <section class="card waiting" aria-label="The run is waiting for consent">
        <h2>The run is waiting for consent (entry {formatNumber(waiting.askedAt)})</h2>
        <p>
          May the run shorten or remove {pluralize(waiting.request.items.length, 'message')}? If nobody answers, it
          keeps all of them{keepsAtMs !== null && <Countdown key={waiting.askedAt} toMs={keepsAtMs} />}.
        </p>
        <ConsentForm key={waiting.askedAt} {...waiting} isBusy={isBusy} onSend={onSend} />
      </section>
    );
  if (waiting.for === 'approval')
    return (
      <section class="card waiting" aria-label="The run is waiting for approval">
        <h2>The run is waiting for approval (entry {formatNumber(waiting.askedAt)})</h2>
        {waiting.questions.map((question) => (
          <ApprovalForm key={question.questionId} question={question} isBusy={isBusy} onSend={onSend} />
        ))}
      </section>
    );
  const { askedAt, questionId, proposal, answer, confidence, rejected } = waiting;
  return (
    <section class="card waiting" aria-label="The run is waiting for a direction">
      <h2>The run is waiting for a direction (entry {formatNumber(askedAt)})</h2>
      <p class="muted">Answer so far, with confidence {formatDecimal(confidence)}:</p>
      <LongText text={answer} />
      {rejected !== null && (
        <p class="wrong" role="alert">
          <span class="verbatim">“{excerpt(rejected, 80)}”</span> was rejected: not a phase.
        </p>
      )}
      <DirectForm key={askedAt} questionId={questionId} proposal={proposal} isBusy={isBusy} onSend={onSend} />
    </section>
  );
}

interface ConsentFormProps extends EventFormProps {
  readonly questionId: string;
  readonly request: ConsentRequest;
}

type Items = Readonly<Record<string, ConsentChoice>>;

const WORDS: Readonly<Record<ConsentChoice, string>> = { keep: 'Keep', summarize: 'Summarize', remove: 'Remove' };

/** `consent.given`: one choice for all messages, which a message can override. Offers summaries only if there are some. */
function ConsentForm({ questionId, request, isBusy, onSend }: ConsentFormProps) {
  const [items, setItems] = useState<Items>({});
  const isOwn = Object.keys(items).length > 0;
  const some = request.items.some(({ summary }) => summary !== '');
  const offered: readonly ConsentChoice[] = some ? ['keep', 'summarize', 'remove'] : ['keep', 'remove'];

  function choose(messageId: string, choice: string): void {
    const { [messageId]: _, ...others } = items;
    const selected = offered.find((one) => one === choice);
    setItems(selected === undefined ? others : { ...others, [messageId]: selected });
  }

  return (
    <form class="consent" aria-label="Consent" onSubmit={(submitted) => submitted.preventDefault()}>
      <ul class="lined">
        {request.items.map(({ messageId, role, preview, chars, summary, reason }) => (
          <li key={messageId}>
            <p>
              <span class="verbatim">“{revealHidden(preview)}”</span>{' '}
              <span class="muted">
                {role}, {pluralize(chars, 'character')}: {revealHidden(reason)}
              </span>
            </p>
            {summary !== '' && (
              <div class="summary">
                <span class="muted">Summary, {pluralize(summary.length, 'character')}:</span>{' '}
                <LongText text={summary} />
              </div>
            )}
            <label>
              This message{' '}
              <select
                value={items[messageId] ?? ''}
                onChange={({ currentTarget }) => choose(messageId, currentTarget.value)}
              >
                <option value="">same as the rest</option>
                {offered
                  .filter((choice) => choice !== 'summarize' || summary !== '')
                  .map((choice) => (
                    <option key={choice} value={choice}>
                      {WORDS[choice].toLowerCase()}
                    </option>
                  ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
      <div class="row">
        {offered.map((choice) => (
          <SendButton
            key={choice}
            isBusy={isBusy}
            onSend={() => void onSend({ type: 'consent.given', questionId, choice, ...(isOwn && { items }) })}
          >
            {WORDS[choice]} {isOwn ? 'the rest' : 'all'}
          </SendButton>
        ))}
      </div>
    </form>
  );
}

/** Sends events to a live run, always in its current state, wherever the cursor is. */
export function ActPanel({ inspector, view }: PanelProps) {
  const { run, log, fold, count } = view;
  const now = count - 1;
  const obstacle = whyNoEvents(inspector, view);
  const hasSent = sent.value.some(({ runId }) => runId === run.runId);
  const isRecorded = run.kind === 'run' && !run.live && inspector.connection.value === 'open';
  if (obstacle !== null)
    return (
      <div class="act">
        {isRecorded ? (
          <>
            {!['interrupted', 'waiting', 'running'].includes(run.status) && <p>{obstacle}</p>}
            <RecordedRun key={run.runId} inspector={inspector} view={view} />
          </>
        ) : (
          <p>{obstacle}</p>
        )}
        {hasSent && <SentList inspector={inspector} view={view} />}
      </div>
    );
  const isBusy = isSending(run.runId);
  const send = (event: unknown): Promise<boolean> => sendEvent(inspector, run.runId, event);
  const waiting = waitingAt(log, fold, now);
  const state = fold.states.at(now) as RecordedState | null;
  return (
    <div class="act">
      <PastNote inspector={inspector} view={view} />
      {waiting !== null && (
        <WaitingForUser waiting={waiting} keepsAtMs={keepsAtMs(view, waiting)} isBusy={isBusy} onSend={send} />
      )}
      <section aria-label="At any time">
        <h2>At any time</h2>
        <div class="row">
          <SendButton isBusy={isBusy} onSend={() => void send({ type: 'run.finished' })}>
            Finish now
          </SendButton>
          <CancelForm isBusy={isBusy} onSend={send} />
        </div>
        {waiting?.for !== 'direction' && (
          <details>
            <summary>Continue with a phase</summary>
            <DirectForm proposal="" isBusy={isBusy} onSend={send} />
          </details>
        )}
        {state !== null && (
          <details>
            <summary>Adjust limits and thresholds</summary>
            <AdjustForm limits={state.limits} thresholds={state.thresholds} isBusy={isBusy} onSend={send} />
          </details>
        )}
        <details>
          <summary>Send another event</summary>
          <JsonForm types={inspector.events.value} isBusy={isBusy} onSend={send} />
        </details>
      </section>
      <SentList inspector={inspector} view={view} />
    </div>
  );
}

/** When the run stops waiting for consent, as milliseconds since 1970; null if that is unknown. */
function keepsAtMs({ run, fold, count }: RunView, { askedAt, ...waiting }: Waiting): number | null {
  const waitMs = (fold.states.at(count - 1) as RecordedState | null)?.limits.consentMs;
  const keepsAt = Date.parse(run.startedAt) + fold.timeLine.atMs(askedAt) + (waitMs ?? Number.NaN);
  return waiting.for === 'consent' && Number.isFinite(keepsAt) ? keepsAt : null;
}

/** Why the run accepts no events; null if it does. */
function whyNoEvents({ connection }: Inspector, { run, log, fold, count }: RunView): string | null {
  if (run.kind === 'system')
    return 'The inspector only observes this actor system. Events can be sent to runs of PostChain.';
  if (!run.live || lastUpTo(fold.entries.of('run-end'), count) !== undefined)
    return 'This run has ended and accepts no more events.';
  if (connection.value !== 'open') return 'The inspector is not connected, so it cannot send events now.';
  return log.count === 0 ? 'The run has not started yet.' : null;
}

/** Reminds the user that events go to the live run even if the cursor is in the past. */
function PastNote({ inspector, view: { at, count } }: PanelProps) {
  const isPast = inspector.cursor.value !== null && at < count - 1;
  return (
    <p class={isPast ? 'past note' : 'muted note'} role="note">
      {isPast
        ? `You are viewing entry ${formatNumber(at)}. Events are sent to the live run, which is at entry ${formatNumber(count - 1)}. `
        : 'Events are sent to the live run immediately.'}
      {isPast && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            inspector.cursor.value = null;
          }}
        >
          Go to the latest entry
        </button>
      )}
    </p>
  );
}

function SentList({ inspector, view: { run, log, fold, count } }: PanelProps) {
  const all = sent.value.filter(({ runId }) => runId === run.runId);
  const accepted = all.filter(({ answer }) => answer?.problem === null).toReversed();
  const deliveries = deliveriesOf(log, fold.entries, accepted, count - 1);
  const deliveryOf = new Map(accepted.map(({ id }, index) => [id, deliveries[index] ?? null]));
  return (
    <section aria-label="Sent events">
      <h2>Sent events</h2>
      <ul class="sent lined" aria-live="polite">
        {all.map((one) => {
          const delivery = deliveryOf.get(one.id) ?? null;
          return (
            <li key={one.id}>
              <code class="verbatim">{jsonExcerpt(one.event, 200)}</code>
              <p class={one.answer?.problem ? 'wrong verbatim' : 'outcome'}>
                {outcomeOf(one, delivery)}{' '}
                {delivery !== null && <EntryLink seq={delivery.seq} moveTo={inspector.moveTo} />}
              </p>
            </li>
          );
        })}
      </ul>
      {all.length === 0 && <p class="muted">None yet.</p>}
    </section>
  );
}

function outcomeOf({ answer }: Sent, delivery: Delivery | null): string {
  if (answer === null) return 'sending…';
  if (answer.problem !== null) return `not sent: ${revealHidden(answer.problem)}`;
  if (delivery === null) return 'sent';
  return delivery.rejection === null ? 'delivered' : `delivered, but rejected: ${revealHidden(delivery.rejection)}`;
}

interface Sent {
  readonly id: number;
  readonly runId: string;
  readonly event: unknown;
  /** The number of entries when it was sent: its delivery comes after them. */
  readonly from: number;
  /** Null while it is being sent; `problem` is null if the run accepted it. */
  readonly answer: { readonly problem: string | null } | null;
}

const MAX_SENT = 50;

/** Newest first. */
const sent = signal<readonly Sent[]>([]);

let nextId = 1;

/** Only one event is sent at a time. */
const isSending = (runId: string): boolean => sent.value.some((one) => one.runId === runId && one.answer === null);

/** Sends an event once; resolves to whether the run accepted it. */
async function sendEvent(inspector: Inspector, runId: string, event: unknown): Promise<boolean> {
  if (isSending(runId)) return false;
  const id = nextId;
  nextId += 1;
  const from = inspector.openRun(runId).log.count;
  sent.value = [{ id, runId, event, from, answer: null }, ...sent.value].slice(0, MAX_SENT);
  const problem = await inspector.send(runId, event);
  sent.value = sent.value.map((one) => (one.id === id ? { ...one, answer: { problem } } : one));
  return problem === null;
}
