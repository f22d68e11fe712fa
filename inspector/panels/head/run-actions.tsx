import { useState } from 'preact/hooks';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { CallMode, Profile } from '../../../machines/contracts/profile.ts';
import { runStart } from '../../fold/answer.ts';
import { closestTo } from '../../fold/run-list.ts';
import { waitingAt } from '../../fold/user-events.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { RunFacts } from '../header/run-details.tsx';
import type { PanelProps } from '../panel.tsx';
import { CompareButton, checkedRuns } from '../runs/runs-table.tsx';
import { READ_ONLY } from '../step/fork-form.tsx';
import { Dialog } from './dialog.tsx';
import { AdjustForm, CancelForm, DirectForm, JsonForm, SendButton } from './event-forms.tsx';
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
      {isFile ? (
        dialogButton('details', 'Details…')
      ) : (
        <>
          {closestTo(run, inspector.runs.value) !== undefined ? (
            <CompareButton chosen={[run]} runs={inspector.runs.value} />
          ) : (
            <button
              type="button"
              title="Opens the list of runs with this one selected. Select another one there."
              onClick={() => {
                checkedRuns.value = new Set([run.runId]);
                location.hash = '#/';
              }}
            >
              Compare…
            </button>
          )}
          {isConnected && dialogButton('export', 'Download…')}
          {isLive ? <Menu label="More" items={more} /> : dialogButton('details', 'Details…')}
        </>
      )}
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={() => setOpen(null)} />}
      {open !== null && open !== 'export' && (
        <Dialog key={open} title={TITLES[open]} onClose={() => setOpen(null)}>
          <Content inspector={inspector} view={view} name={open} onDone={() => setOpen(null)} />
        </Dialog>
      )}
    </div>
  );
}

interface ContentProps extends PanelProps {
  readonly name: keyof typeof TITLES;
  readonly onDone: () => void;
}

function Content({ inspector, view, name, onDone }: ContentProps) {
  const { run, log, fold, count } = view;
  const { isBusy, onSend } = sender(inspector, run.runId);
  const form = {
    isBusy,
    async onSend(event: unknown): Promise<boolean> {
      const isSent = await onSend(event);
      if (isSent) onDone();
      return isSent;
    },
  };
  const state = fold.states.at(count - 1) as RecordedState | null;
  switch (name) {
    case 'details':
      return (
        <>
          <RunFacts inspector={inspector} run={run} profile={profileText(log)} />
          {inspector.connection.value === 'open' && !inspector.continues.value && <p class="muted">{READ_ONLY}</p>}
        </>
      );
    default:
      return (
        <>
          {name === 'cancel' && <CancelForm {...form} />}
          {name === 'direct' && <DirectForm proposal="" recommended="action" {...form} />}
          {name === 'event' && <JsonForm types={inspector.events.value} {...form} />}
          {name === 'adjust' &&
            (state === null ? (
              <p>The state of the run is not known yet.</p>
            ) : (
              <AdjustForm limits={state.limits} thresholds={state.thresholds} {...form} />
            ))}
          <SendingResult inspector={inspector} view={view} />
        </>
      );
  }
}

/** Where the phases get their replies from, in words; null for the systems of other programs. */
function profileText(log: RunLog): string | null {
  const profile = runStart(log)?.input.profile;
  if (profile === undefined) return null;
  const wordsOf = (phase: Phase): string => CALL_MODES[profile[phase]];
  return [...new Set(PHASES.map(wordsOf))]
    .map((words) => `${words}: ${PHASES.filter((phase) => wordsOf(phase) === words).join(', ')}`)
    .join(' · ');
}

const CALL_MODES = {
  always: 'own call',
  'if-needed': 'only with capabilities',
  own: 'own call',
  brief: 'own call, brief reply',
  shared: 'shared brief reply',
  policy: 'no model call',
} as const satisfies Record<CallMode | Profile['action'] | Profile['yield'], string>;
