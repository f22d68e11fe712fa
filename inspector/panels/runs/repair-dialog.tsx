import { useEffect, useState } from 'preact/hooks';
import type { RepairAction, RepairResult } from '../../../src/durable/repair.ts';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { formatNumber, pluralize } from '../../fold/format.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { Dialog } from '../head/dialog.tsx';
import { Field, Problem, SubmitForm, TextField } from '../head/event-forms.tsx';
import { OUTPUT_HINT, outputIn, problemText } from '../head/repair-buttons.tsx';

const ACTIONS: Readonly<
  Record<RepairAction, { readonly label: string; readonly done: string; readonly about: string }>
> = {
  retry: { label: 'Retry', done: 'retried', about: 'what failed runs again' },
  skip: { label: 'Skip', done: 'skipped', about: 'the actors continue without what failed' },
  release: { label: 'Release', done: 'released', about: 'workers continue quarantined actors again' },
  stop: { label: 'Stop', done: 'stopped', about: 'the actors end now; this cannot be undone' },
};

const MAX_LISTED = 500;
const TYPING_MS = 300;

interface RepairDialogProps {
  readonly inspector: Inspector;
  readonly runs: readonly InspectedRun[];
  /** Receives what was done, as one sentence; empty if nothing. */
  readonly onClose: (result: string) => void;
}

/** Repairs actors. Shows what would happen to each, and then what has happened. */
export function RepairDialog({ inspector, runs, onClose }: RepairDialogProps) {
  const first = runs.some(({ status }) => status === 'degraded') ? 'retry' : undefined;
  const [action, choose] = useState<RepairAction>(first ?? (runs.some((run) => run.quarantined) ? 'release' : 'stop'));
  const [text, setText] = useState('');
  const [results, setResults] = useState<readonly RepairResult[] | null>(null);
  const [done, setDone] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const { label, done: word, about } = ACTIONS[action];
  const output = action === 'skip' ? outputIn(text) : {};

  async function request(dryRun: boolean): Promise<readonly RepairResult[] | null> {
    const runIds = runs.map(({ runId }) => runId);
    const reply = await inspector.request({ type: 'repair', runIds, action, dryRun, ...output });
    setProblem(reply.problem ?? '');
    return reply.result;
  }

  useEffect(() => {
    let isCurrent = true;
    setResults(null);
    setDone('');
    const load = () => void request(true).then((found) => isCurrent && setResults(found));
    const timer = output === null ? undefined : setTimeout(load, text === '' ? 0 : TYPING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [action, text]);

  const possible = (all: typeof results): number => (all ?? []).filter((one) => one.problem === null).length;

  async function repair(): Promise<void> {
    setBusy(true);
    const found = await request(false);
    setBusy(false);
    if (found === null) return;
    setResults(found);
    const goOn = action === 'stop' ? '' : ' A worker continues them, or you do on their pages.';
    const repaired = possible(found);
    setDone(`${formatNumber(repaired)} of ${pluralize(found.length, 'actor')} ${word}.${repaired === 0 ? '' : goOn}`);
  }

  const none =
    results !== null && possible(results) === 0 ? 'None of them: choose another action or other actors.' : '';
  const missing = done !== '' ? done : output === null ? 'Result: enter JSON.' : results === null ? 'Checking…' : none;
  return (
    <Dialog title={`Repair ${pluralize(runs.length, 'actor')}`} class="repair" onClose={() => onClose(done)}>
      <SubmitForm
        label="Repair"
        class="stack"
        isBusy={isBusy}
        missing={missing}
        submit={`${label} ${pluralize(possible(results), 'actor')}`}
        onSubmit={() => void repair()}
      >
        <Field label="Action" hint={about}>
          <select value={action} onChange={({ currentTarget }) => choose(currentTarget.value as RepairAction)}>
            {Object.entries(ACTIONS).map(([name, one]) => (
              <option key={name} value={name}>
                {one.label}
              </option>
            ))}
          </select>
        </Field>
        {action === 'skip' && <TextField label="Result" hint={OUTPUT_HINT} rows={2} value={text} onText={setText} />}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
        <ul tabIndex={0} aria-label={done === '' ? 'What would happen' : 'What happened'}>
          {(results ?? []).slice(0, MAX_LISTED).map(({ id, problem: why }) => (
            <li key={id} class="verbatim">
              <b>{excerpt(runs.find(({ runId }) => runId === id)?.title || id, 80)}</b>:{' '}
              {why === null ? (
                `${done === '' ? 'would be ' : ''}${word}`
              ) : (
                <span class="muted">{problemText(id, why)}</span>
              )}
            </li>
          ))}
        </ul>
        <Problem text={problem} />
      </SubmitForm>
    </Dialog>
  );
}
