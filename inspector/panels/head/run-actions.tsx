import { useState } from 'preact/hooks';
import { answerUpTo, runStart } from '../../fold/entry-index.ts';
import { failedCallOf } from '../../fold/summary.ts';
import { RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { CompareButton } from '../runs/runs-table.tsx';
import { canFork, ForkForm, READ_ONLY } from '../step/fork-form.tsx';
import { Dialog } from './dialog.tsx';
import { CancelForm, SendButton } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { SendingResult, sender } from './sending.tsx';

type DialogName = 'cancel' | 'details' | 'retry' | 'fork' | 'export';

/** What can be done with a run: compared, downloaded, canceled, retried, forked. An exported file offers its details only. */
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
  const titles = {
    cancel: 'Cancel this run',
    details: 'Details of this run',
    retry: `Retry call ${failed?.number}`,
    fork: `Fork at ${last?.phase}, cycle ${last?.cycle}`,
  };
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
        </div>
      )}
      {failed && dialogButton('retry', `${titles.retry}…`)}
      {answer && last && dialogButton('fork', 'Fork…')}
      {!isFile && <CompareButton chosen={[run]} runs={inspector.runs.value} />}
      {isConnected && dialogButton('export', 'Download…')}
      {dialogButton('details', 'Details…')}
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={close} />}
      {open !== null && open !== 'export' && (
        <Dialog key={open} title={titles[open]} onClose={close}>
          {open === 'details' ? (
            <>
              <RunFacts run={run} profile={phases.join(' · ')} />
              {isConnected && !inspector.continues.value && <p class="muted">{READ_ONLY}</p>}
            </>
          ) : open === 'fork' ? (
            last && (
              <>
                <p class="muted">To fork at another step, select it and choose “Fork here”.</p>
                <ForkForm {...{ inspector, view }} seq={Math.max(1, last.from)} />
              </>
            )
          ) : open === 'retry' ? (
            failed && <ForkForm inspector={inspector} view={view} seq={failed.from} call={failed} />
          ) : (
            <>
              <CancelForm
                {...form}
                onSend={async (event) => {
                  const isSent = await form.onSend(event);
                  if (isSent) close();
                  return isSent;
                }}
              />
              <SendingResult inspector={inspector} view={view} />
            </>
          )}
        </Dialog>
      )}
    </div>
  );
}
