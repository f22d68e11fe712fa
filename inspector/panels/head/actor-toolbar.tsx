import { useState } from 'preact/hooks';
import type { PageRequest } from '../../../src/inspection/page-messages.ts';
import type { RunAction } from '../../../src/inspection/wire.ts';
import type { RunFold } from '../../fold/run-fold.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { useIsPast } from '../../ui-state/use-now.ts';
import type { PanelProps } from '../panel.tsx';
import { Dialog } from './dialog.tsx';
import { JsonForm, SendButton } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';

/** Sends requests to act on an actor, one at a time, and keeps the result of the last one. */
export interface ActorRequests {
  readonly isBusy: boolean;
  /** What was done or what failed, in one sentence; may be empty. `sent`: the event, and the number of entries before it. */
  readonly result: ActorResult;
  /** Resolves to whether it succeeded. */
  request(request: PageRequest & { readonly type: 'send' | 'act' }, done: string): Promise<boolean>;
}

interface ActorResult {
  readonly text: string;
  readonly isProblem: boolean;
  readonly sent?: { readonly type: string; readonly from: number };
}

export function useActorRequests(inspector: Inspector): ActorRequests {
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<ActorResult>({ text: '', isProblem: false });
  return {
    isBusy,
    result,
    async request(request, done) {
      if (isBusy) return false;
      setBusy(true);
      setResult({ text: 'Sending…', isProblem: false });
      const from = inspector.openRun(request.runId).log.count;
      const { result: reply, problem } = await inspector.request(request);
      setBusy(false);
      const sent = request.type === 'send' ? { type: String(Object(request.event).type), from } : undefined;
      setResult({ text: problem ?? (reply?.note || done), isProblem: problem !== null, ...(sent && { sent }) });
      const started = reply?.runId ?? null;
      if (started !== null && started !== request.runId) location.hash = `#/run/${encodeURIComponent(started)}`;
      return problem === null;
    },
  };
}

/** Shows the result of the last request, and whether the actor ignored the event. */
export function LastResult({
  result: { text, isProblem, sent },
  fold,
}: {
  readonly result: ActorResult;
  readonly fold: RunFold;
}) {
  const event = sent && fold.actors[0]?.events.findLast(({ type, seq }) => type === sent.type && seq >= sent.from);
  const ignored = event?.ignored ?? null;
  const why = ignored?.length === 0 ? 'its states have no transition for it' : 'every guard was false';
  return (
    <p class={`sent ${isProblem ? 'wrong' : ''} verbatim`} role="status">
      {excerpt(text, 400)}
      {!isProblem && ignored !== null && ` The actor ignored it: ${why}.`}
    </p>
  );
}

/** Why no event can be sent to an actor now, and what to do; null if one can. */
export function blockedText({ connection }: Inspector, { run, end }: Pick<PanelView, 'run' | 'end'>): string | null {
  if (connection.value === 'file')
    return 'This page is an exported file. To act on the actor, run "postchain inspect".';
  if (run.machine === undefined) return 'The inspector only observes this program. Send events in the program itself.';
  if (run.status === 'damaged' || (end?.problem ?? null) !== null)
    return 'The journal is damaged. To act on the actor, restore the journal from a backup.';
  if (connection.value !== 'open') return 'The inspector is not connected. Start it again and reload the page.';
  return run.blocked ?? null;
}

interface ToolbarProps extends PanelProps {
  readonly requests: ActorRequests;
  readonly isOver: boolean;
  readonly blocked: string | null;
}

/** Continue, stop, fork, check the replay, download. What cannot be done is disabled; the reason is `blocked`. */
export function ActorToolbar({ inspector, view, requests, isOver, blocked }: ToolbarProps) {
  const { run, at } = view;
  const [open, setOpen] = useState<'stop' | 'fork' | 'export' | null>(null);
  const act = (action: RunAction, done: string) =>
    requests.request({ type: 'act', runId: run.runId, action, confirmed: null }, done);
  const isDue = useIsPast(run.waiting?.dueAtMs ?? null);
  // Both only read its journal.
  const canRead = run.machine !== undefined && Object.hasOwn(inspector.machines.value, run.machine);
  const isConnected = inspector.connection.value === 'open';
  return (
    <div class="row">
      {(run.status === 'interrupted' || isDue) && (
        <button type="button" disabled={blocked !== null} onClick={() => void act({ type: 'resume' }, 'Continued.')}>
          {isDue ? 'Fire the due timer' : 'Continue'}
        </button>
      )}
      {!isOver && (
        <button type="button" disabled={blocked !== null} aria-haspopup="dialog" onClick={() => setOpen('stop')}>
          Stop…
        </button>
      )}
      <button type="button" disabled={!isConnected || !canRead} aria-haspopup="dialog" onClick={() => setOpen('fork')}>
        Fork…
      </button>
      <button type="button" disabled={!isConnected || !canRead} onClick={() => void act({ type: 'replay' }, '')}>
        Check the replay
      </button>
      <button type="button" disabled={!isConnected} aria-haspopup="dialog" onClick={() => setOpen('export')}>
        Download…
      </button>
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={() => setOpen(null)} />}
      {open === 'stop' && (
        <Dialog title="Stop this actor" class="stack" onClose={() => setOpen(null)}>
          <p>The actor ends now: its timers do not fire, and its calls are not restarted. This cannot be undone.</p>
          <SendButton
            isBusy={requests.isBusy}
            onSend={() => void act({ type: 'stop' }, 'Stopped.').then(() => setOpen(null))}
          >
            Stop the actor
          </SendButton>
        </Dialog>
      )}
      {open === 'fork' && (
        <Dialog title={`Fork at entry ${at}`} class="stack" onClose={() => setOpen(null)}>
          <p>
            Starts another actor with the same history up to the step of entry {at} and sends it this event. To fork at
            another step, select that step first. {excerpt(run.title, 80)} does not change.
          </p>
          <JsonForm
            isBusy={requests.isBusy}
            given={`{ "type": ${JSON.stringify(run.waiting?.events[0] ?? '')} }`}
            submit="Start the fork"
            onSend={(event) => act({ type: 'fork', at, set: {}, event: event as { type: string } }, 'Forked.')}
          />
          <SendButton isBusy={requests.isBusy} onSend={() => void act({ type: 'fork', at, set: {} }, 'Forked.')}>
            Start without an event
          </SendButton>
          {requests.result.isProblem && <p class="wrong verbatim">{excerpt(requests.result.text, 400)}</p>}
        </Dialog>
      )}
    </div>
  );
}
