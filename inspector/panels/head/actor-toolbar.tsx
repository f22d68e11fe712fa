import { useState } from 'preact/hooks';
import { forkPoint } from '../../fold/fork-point.ts';
import { namesText } from '../../fold/run-list.ts';
import { isOver } from '../../fold/step-title.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import { useIsPast } from '../../ui-state/use-now.ts';
import type { PanelProps } from '../panel.tsx';
import { ActorEventForm, OTHER_EVENT } from './actor-events.tsx';
import { Dialog } from './dialog.tsx';
import { Field, Problem, SendButton, SubmitForm, TextField } from './event-forms.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { RepairButtons } from './repair.tsx';
import { SendingResult, sender } from './sending.tsx';

/** Why no event can be sent to an actor now, and what to do; null if one can. */
export function blockedText({ connection }: Inspector, { run, end }: Pick<PanelView, 'run' | 'end'>): string | null {
  if (connection.value === 'file')
    return 'This page is an exported file. To act on the actor, run "postchain inspect".';
  if (run.machine === undefined)
    return 'The inspector only observes this program. Send events from the program itself.';
  if (run.status === 'damaged' || (end?.problem ?? null) !== null)
    return 'The journal is damaged. To act on the actor, restore the journal from a backup.';
  if (connection.value !== 'open') return 'The inspector is not connected. Start it again and reload the page.';
  if (run.status === 'cancelled')
    return 'It has ended: it accepts no events, and its timers do not fire. To continue from one of its steps, fork it.';
  return run.blocked ?? null;
}

type ActorToolbarProps = PanelProps & {
  readonly blocked: string | null;
  /** Whether its machine is known, so that its journal can be replayed. */
  readonly canRead: boolean;
  readonly onOpen: () => void;
  /** The entry after whose step a fork begins; null while no fork is being started. */
  readonly forkAt: number | null;
  readonly onFork: (at: number | null) => void;
};

/** Continue, stop, fork, check the replay, download. What cannot be done is disabled; the reason is `blocked`. */
export function ActorToolbar({ inspector, view, blocked, canRead, onOpen, forkAt, onFork }: ActorToolbarProps) {
  const { run } = view;
  const { isBusy, act } = sender(inspector, run.runId);
  const [open, setOpen] = useState<'stop' | 'export' | null>(null);
  const show = (dialog: typeof open): void => {
    onOpen();
    setOpen(dialog);
  };
  const isDue = useIsPast(run.waiting?.dueAtMs ?? null);
  const isConnected = inspector.connection.value === 'open';
  return (
    <div class="toolbar row">
      {(run.status === 'interrupted' || isDue || run.queued !== undefined) && (
        <button
          type="button"
          class="primary"
          disabled={blocked !== null}
          onClick={() => void act({ type: 'resume' }, 'Continued.')}
        >
          {isDue ? 'Fire the due timer' : run.queued ? 'Begin now' : 'Continue'}
        </button>
      )}
      <RepairButtons inspector={inspector} view={view} blocked={blocked} act={act} />
      {!isOver(run) && (
        <button
          type="button"
          class="danger"
          disabled={blocked !== null}
          aria-haspopup="dialog"
          onClick={() => show('stop')}
        >
          Stop…
        </button>
      )}
      <button
        type="button"
        disabled={!canRead}
        aria-haspopup="dialog"
        onClick={() => {
          onOpen();
          onFork(view.selection.from);
        }}
      >
        Fork…
      </button>
      <button
        type="button"
        disabled={!canRead}
        title="Replays the journal without calls and shows the first divergence"
        onClick={() => void act({ type: 'replay' })}
      >
        Replay
      </button>
      <button type="button" disabled={!isConnected} aria-haspopup="dialog" onClick={() => show('export')}>
        Download…
      </button>
      <SendingResult inspector={inspector} view={view} />
      {open === 'export' && <ExportDialog inspector={inspector} runIds={[run.runId]} onClose={() => setOpen(null)} />}
      {open === 'stop' && (
        <Dialog title={`Stop ${excerpt(run.title, 60)}`} class="stack" onClose={() => setOpen(null)}>
          <p>The actor ends now: its timers do not fire, and its calls are not restarted. This cannot be undone.</p>
          <SendButton isBusy={isBusy} isDanger onSend={() => void act({ type: 'stop' }).then(() => setOpen(null))}>
            Stop the actor
          </SendButton>
        </Dialog>
      )}
      {forkAt !== null && (
        <ForkDialog inspector={inspector} view={{ ...view, at: forkAt }} onClose={() => onFork(null)} />
      )}
    </div>
  );
}

const NONE = 'none';

/** Starts another actor with the same history up to a step, with an event that the state accepts there, or without one. */
function ForkDialog({ inspector, view, onClose }: PanelProps & { readonly onClose: () => void }) {
  const { run } = view;
  const { machine = '', runId, title } = run;
  const { isBusy, act } = sender(inspector, runId);
  const { at, step, waits, next } = forkPoint(view, machine, view.at, isOver(run));
  const forms = inspector.machines.value[machine] ?? null;
  const accepted = (waits?.events ?? []).filter((type) => forms === null || Object.hasOwn(forms, type));
  const types = [NONE, ...accepted, ...(forms === null ? [OTHER_EVENT] : [])];
  const [wanted, choose] = useState<string | null>(null);
  const chosen = types.find((type) => type === wanted) ?? NONE;
  const [input, setInput] = useState('');
  const [problem, setProblem] = useState('');
  const states = waits === undefined ? '' : `, in ${namesText(waits.states)}`;

  async function start(event: unknown, onProblem: (problem: string) => void): Promise<boolean> {
    try {
      const changes = {
        ...(event !== null && { event: event as { type: string } }),
        ...(input.trim() !== '' && { input: JSON.parse(input) as unknown }),
      };
      return await act({ type: 'fork', at, set: {}, ...changes }, 'Forked.', onProblem);
    } catch {
      onProblem('Input: enter JSON.');
      return false;
    }
  }

  return (
    <Dialog title={`Fork after ${excerpt(step, 60)}${excerpt(states, 120)}`} class="stack" onClose={onClose}>
      {waits === undefined ? (
        <p>The state after this step is not known. Select an earlier step to fork there.</p>
      ) : (
        <>
          <p>
            Starts another actor with the same history. {excerpt(title, 80)} does not change
            {next === null ? '.' : `; it received ${excerpt(next, 60)} next.`}
            {waits.actors.length > 0 && ` The fork starts ${excerpt(namesText(waits.actors), 80)} again.`} To fork at
            another step, select it first.
          </p>
          <Field label="Event for the fork">
            <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
              {types.map((type) => (
                <option key={type} value={type}>
                  {excerpt(type, 80)}
                  {waits.leadsTo[type] && `: ${excerpt(waits.leadsTo[type], 80)}`}
                </option>
              ))}
            </select>
          </Field>
          <details>
            <summary>Another input</summary>
            <TextField
              label="Input as JSON"
              hint="the history is replayed with it"
              rows={2}
              value={input}
              onText={setInput}
            />
          </details>
          {chosen === NONE ? (
            <SubmitForm
              label="Fork"
              isBusy={isBusy}
              submit="Start the fork"
              onSubmit={() => void start(null, setProblem)}
            >
              <Problem text={excerpt(problem, 400)} />
            </SubmitForm>
          ) : (
            <ActorEventForm
              key={chosen}
              view={view}
              type={chosen}
              forms={forms}
              accepted={waits.events}
              isBusy={isBusy}
              submit="Start the fork"
              onSend={start}
            />
          )}
        </>
      )}
    </Dialog>
  );
}
