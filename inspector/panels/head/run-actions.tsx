import { useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { runStart } from '../../fold/answer.ts';
import { waitingAt } from '../../fold/user-events.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { CompareButton } from '../runs/runs-table.tsx';
import { READ_ONLY } from '../step/fork-form.tsx';
import { Dialog } from './dialog.tsx';
import { CancelForm, DirectForm, JsonForm, SendButton } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { Menu, type MenuItem } from './menu.tsx';
import { SendingResult, sender } from './sending.tsx';

const TITLES = {
  cancel: 'Cancel this run',
  adjust: 'Adjust limits and thresholds',
  direct: 'Continue with a phase',
  event: 'Send another event',
  details: 'Details of this run',
} as const;

type DialogName = keyof typeof TITLES | 'export';

/** What can be done with a run: compared, downloaded, stopped, directed. An exported file offers its details only. */
export function RunActionsMenu({ inspector, view }: PanelProps) {
  const [open, setOpen] = useState<DialogName | null>(null);
  const { run, log, fold, count } = view;
  const isConnected = inspector.connection.value === 'open';
  const isFile = inspector.connection.value === 'file';
  const isLive = run.live && isConnected && fold.entries.of('end').length === 0 && log.count > 0;
  const form = sender(inspector, run.runId);
  const item = (name: DialogName, label: string): MenuItem => ({ label, act: () => setOpen(name) });
  const close = (): void => setOpen(null);
  const dialogButton = (name: DialogName, label: string) => (
    <button type="button" aria-haspopup="dialog" onClick={() => setOpen(name)}>
      {label}
    </button>
  );
  const more = [
    item('adjust', 'Adjust limits…'),
    ...(waitingAt(log, fold, count - 1)?.for === 'direction' ? [] : [item('direct', 'Continue with a phase…')]),
    item('event', 'Send another event…'),
    item('details', 'Details…'),
  ];
  return (
    <div class="run-actions row">
      {isLive && (
        <>
          <SendButton isBusy={form.isBusy} onSend={() => void form.onSend({ type: 'run.finished' })}>
            Finish now
          </SendButton>
          {dialogButton('cancel', 'Cancel…')}
        </>
      )}
      {!isFile && <CompareButton chosen={[run]} runs={inspector.runs.value} />}
      {isConnected && dialogButton('export', 'Download…')}
      {isLive ? <Menu label="More" items={more} /> : dialogButton('details', 'Details…')}
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={close} />}
      {open !== null && open !== 'export' && (
        <Dialog key={open} title={TITLES[open]} onClose={close}>
          {open === 'details' ? (
            <>
              <RunFacts inspector={inspector} run={run} profile={profileText(log)} />
              {isConnected && !inspector.continues.value && <p class="muted">{READ_ONLY}</p>}
            </>
          ) : (
            <>
              <EventForm inspector={inspector} view={view} name={open} onDone={close} />
              <SendingResult inspector={inspector} view={view} />
            </>
          )}
        </Dialog>
      )}
    </div>
  );
}

interface EventFormProps extends PanelProps {
  readonly name: Exclude<DialogName, 'details' | 'export'>;
  readonly onDone: () => void;
}

function EventForm({ inspector, view: { run, fold, count }, name, onDone }: EventFormProps) {
  const { isBusy, onSend } = sender(inspector, run.runId);
  const form = {
    isBusy,
    onSend: (event: unknown) =>
      onSend(event).then((isSent) => {
        if (isSent) onDone();
        return isSent;
      }),
  };
  const state = fold.states.at(count - 1) as RecordedState | null;
  if (name === 'cancel') return <CancelForm {...form} />;
  if (name === 'direct') return <DirectForm proposal="" recommended="action" {...form} />;
  if (name === 'event') return <JsonForm types={inspector.events.value} {...form} />;
  if (state === null) return <p>The state of the run is not known yet.</p>;
  const { limits, thresholds } = state;
  return (
    <JsonForm given={JSON.stringify({ type: 'run.adjusted', limits, thresholds }, null, 2)} submit="Adjust" {...form} />
  );
}

/** The profile of the run, as in the option; null for the systems of other programs. */
function profileText(log: RunLog): string | null {
  const { profile } = runStart(log)?.input ?? {};
  return profile === undefined
    ? null
    : Object.entries(profile)
        .map((phase) => phase.join(': '))
        .join(' · ');
}
