import './act.css';
import { contextAt } from '../../fold/context-at.ts';
import { grouped } from '../../fold/number-words.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import { waitingAt } from '../../fold/waiting-at.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import type { PanelProps } from '../panel-props.ts';
import { CancelForm } from './cancel-form.tsx';
import { DirectForm } from './direct-form.tsx';
import { SchemaForm } from './schema-form.tsx';
import { SendButton } from './send-button.tsx';
import { isUnderWay, sent, tell } from './sent.ts';
import { SentList } from './sent-list.tsx';
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
