import { useState } from 'preact/hooks';
import { isOver } from '../../fold/step-title.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { useIsPast } from '../../ui-state/use-now.ts';
import type { PanelProps } from '../panel.tsx';
import { Dialog } from './dialog.tsx';
import { JsonForm, SendButton } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { SendingResult, sender } from './sending.tsx';

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

/** Continue, stop, fork, check the replay, download. What cannot be done is disabled; the reason is `blocked`. */
export function ActorToolbar({ inspector, view, blocked }: PanelProps & { readonly blocked: string | null }) {
  const { run, at } = view;
  const { isBusy, act } = sender(inspector, run.runId);
  const [open, setOpen] = useState<'stop' | 'fork' | 'export' | null>(null);
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
      {!isOver(run) && (
        <button type="button" disabled={blocked !== null} aria-haspopup="dialog" onClick={() => setOpen('stop')}>
          Stop…
        </button>
      )}
      <button type="button" disabled={!isConnected || !canRead} aria-haspopup="dialog" onClick={() => setOpen('fork')}>
        Fork…
      </button>
      <button type="button" disabled={!isConnected || !canRead} onClick={() => void act({ type: 'replay' })}>
        Check the replay
      </button>
      <button type="button" disabled={!isConnected} aria-haspopup="dialog" onClick={() => setOpen('export')}>
        Download…
      </button>
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={() => setOpen(null)} />}
      {open === 'stop' && (
        <Dialog title="Stop this actor" class="stack" onClose={() => setOpen(null)}>
          <p>The actor ends now: its timers do not fire, and its calls are not restarted. This cannot be undone.</p>
          <SendButton isBusy={isBusy} onSend={() => void act({ type: 'stop' }, 'Stopped.').then(() => setOpen(null))}>
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
            isBusy={isBusy}
            given={`{ "type": ${JSON.stringify(run.waiting?.events[0] ?? '')} }`}
            submit="Start the fork"
            onSend={(event) => act({ type: 'fork', at, set: {}, event: event as { type: string } }, 'Forked.')}
          />
          <SendButton isBusy={isBusy} onSend={() => void act({ type: 'fork', at, set: {} }, 'Forked.')}>
            Start without an event
          </SendButton>
          <SendingResult inspector={inspector} view={view} />
        </Dialog>
      )}
    </div>
  );
}
