import { useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { answerUpTo, runStart } from '../../fold/entry-index.ts';
import { attemptAt } from '../../fold/output.ts';
import { promptSeq } from '../../fold/step.ts';
import { failedCallOf } from '../../fold/summary.ts';
import { RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { CompareButton } from '../runs/runs-table.tsx';
import { canFork, ForkForm, READ_ONLY } from '../step/fork-form.tsx';
import { Dialog } from './dialog.tsx';
import { CancelForm, Field, JsonForm, SendButton } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { SendingResult, sender } from './sending.tsx';

const TITLES = {
  cancel: 'Cancel this run',
  event: 'Send an event',
  details: 'Details of this run',
  retry: 'Retry the failed call in a new run',
  fork: 'Fork this run',
} as const;

type DialogName = keyof typeof TITLES | 'export';

/** What can be done with a run: compared, downloaded, stopped, directed. An exported file offers its details only. */
export function RunActions({ inspector, view }: PanelProps) {
  const [open, setOpen] = useState<DialogName | null>(null);
  const { run, log, fold } = view;
  const isConnected = inspector.connection.value === 'open';
  const isFile = inspector.connection.value === 'file';
  const isLive = run.live && isConnected && fold.entries.of('end').length === 0 && log.count > 0;
  const { profile = {} } = runStart(log)?.input ?? {};
  const phases = Object.entries(profile).map((phase) => phase.join(': '));
  const form = sender(inspector, run.runId);
  const close = (): void => setOpen(null);
  const answer = canFork(inspector, view) ? answerUpTo(log, fold, log.count - 1)?.answer : undefined;
  const last = fold.spans.phases.at(-1);
  const failed = answer && failedCallOf(fold.spans, answer);
  const dialogButton = (name: DialogName, label: string) => (
    <button type="button" aria-haspopup="dialog" onClick={() => setOpen(name)}>
      {label}
    </button>
  );
  return (
    <div class="run-actions row">
      {isLive && (
        <div class="while-live row">
          <SendButton isBusy={form.isBusy} onSend={() => void form.onSend({ type: 'run.finished' })}>
            Finish now
          </SendButton>
          {dialogButton('cancel', 'Cancel…')}
          {dialogButton('event', 'Send an event…')}
        </div>
      )}
      {failed && dialogButton('retry', `Retry call ${failed.number}…`)}
      {answer && last && dialogButton('fork', 'Fork…')}
      {!isFile && <CompareButton chosen={[run]} runs={inspector.runs.value} />}
      {isConnected && dialogButton('export', 'Download…')}
      {dialogButton('details', 'Details…')}
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={close} />}
      {open !== null && open !== 'export' && (
        <Dialog key={open} title={TITLES[open]} onClose={close}>
          {open === 'details' ? (
            <>
              <RunFacts run={run} profile={phases.join(' · ')} />
              {isConnected && !inspector.continues.value && <p class="muted">{READ_ONLY}</p>}
            </>
          ) : open === 'fork' ? (
            last && (
              <>
                <p class="muted">To fork at another step, select it and choose “Fork here”.</p>
                <ForkForm
                  {...{ inspector, view }}
                  seq={Math.max(1, last.from)}
                  step={`${last.phase}, cycle ${last.cycle}`}
                />
              </>
            )
          ) : open === 'retry' ? (
            failed && (
              <ForkForm
                inspector={inspector}
                view={view}
                seq={failed.from}
                step={`call ${failed.number}`}
                promptAt={promptSeq(log, fold, attemptAt(failed, log.count))}
              />
            )
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
  readonly name: Exclude<DialogName, 'details' | 'export' | 'retry' | 'fork'>;
  readonly onDone: () => void;
}

function EventForm({ inspector, view: { run, fold, count }, name, onDone }: EventFormProps) {
  const { isBusy, onSend } = sender(inspector, run.runId);
  const types = inspector.events.value;
  const [type = '', choose] = useState(types[0]);
  const form = {
    isBusy,
    onSend: (event: unknown) =>
      onSend(event).then((isSent) => {
        if (isSent) onDone();
        return isSent;
      }),
  };
  if (name === 'cancel') return <CancelForm {...form} />;
  const { limits, thresholds } = (fold.states.at(count - 1) as RecordedState | null) ?? {};
  // The members that are usually sent.
  const members = { 'run.adjusted': { limits, thresholds }, 'run.directed': { phase: 'action' } }[type];
  return (
    <>
      {types.length > 0 && (
        <Field label="Event">
          <select value={type} onChange={({ currentTarget }) => choose(currentTarget.value)}>
            {types.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Field>
      )}
      <JsonForm key={type} given={JSON.stringify({ type, ...members }, null, 2)} {...form} />
    </>
  );
}
