import { useEffect, useState } from 'preact/hooks';
import type { RepairAction } from '../../../src/durable/repair.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import type { PanelProps } from '../panel.tsx';
import { Dialog } from './dialog.tsx';
import { Problem, SubmitForm, TextField } from './event-forms.tsx';
import { sender } from './sending.tsx';

/** Returns the JSON of an optional field as the member of a request; null if it is no JSON. */
export function outputIn(text: string): { readonly output?: unknown } | null {
  try {
    return text.trim() === '' ? {} : { output: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

export const OUTPUT_HINT = 'as JSON, optional: replaces that of a call that failed';

/** The problem of an actor, without its id. */
export const problemText = (id: string, problem: string): string =>
  excerpt(revealHidden(problem.replace(`actor ${id}: `, '')), 400);

/** Why an action would not repair an actor, from a dry run; empty if it would, null while that is unknown. */
function useProblem({ inspector, view }: PanelProps, action: RepairAction, isWanted: boolean): string | null {
  const { runId } = view.run;
  const [problem, setProblem] = useState<string | null>(null);
  useEffect(() => {
    let isCurrent = true;
    setProblem(null);
    if (isWanted)
      void inspector.request({ type: 'repair', runIds: [runId], action, dryRun: true }).then((reply) => {
        const text = reply.problem ?? reply.result?.[0]?.problem ?? '';
        if (isCurrent) setProblem(problemText(runId, text));
      });
    return () => {
      isCurrent = false;
    };
  }, [runId, action, isWanted, view.count]);
  return problem;
}

/** Retries or skips what failed in an actor, or releases it. What is not possible is disabled, with the reason. */
export function RepairButtons({ inspector, view, blocked }: PanelProps & { readonly blocked: string | null }) {
  const { run } = view;
  const { isBusy, act } = sender(inspector, run.runId);
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState('');
  const isWanted = run.status === 'degraded' && blocked === null;
  const retry = useProblem({ inspector, view }, 'retry', isWanted);
  const skip = useProblem({ inspector, view }, 'skip', isWanted);
  const reasons = retry === skip ? [retry && `Cannot be retried or skipped: ${retry}`] : [];
  if (retry !== skip) reasons.push(retry && `Cannot be retried: ${retry}`, skip && `Cannot be skipped: ${skip}`);

  async function submit(): Promise<void> {
    const output = outputIn(text);
    if (output === null) setWrong('Result: enter JSON.');
    else if (await act({ type: 'skip', ...output }, 'Skipped.', setWrong)) setOpen(false);
  }

  if (run.quarantined !== undefined)
    return (
      <button type="button" disabled={blocked !== null} onClick={() => void act({ type: 'release' }, 'Released.')}>
        Release
      </button>
    );
  if (run.status !== 'degraded') return null;
  return (
    <>
      <button
        type="button"
        class="primary"
        disabled={retry !== ''}
        onClick={() => void act({ type: 'retry' }, 'Retried.')}
      >
        Retry
      </button>
      <button type="button" disabled={skip !== ''} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Skip…
      </button>
      {reasons.map((reason) => reason && <p class="reason muted verbatim">{reason}</p>)}
      {isOpen && (
        <Dialog title="Skip what failed" class="stack" onClose={() => setOpen(false)}>
          <p>
            The actor continues without what failed: a call counts as finished, an action as executed, and an event as
            never sent.
          </p>
          <SubmitForm label="Skip" isBusy={isBusy} submit="Skip and continue" onSubmit={() => void submit()}>
            <TextField label="Result" hint={OUTPUT_HINT} rows={2} value={text} onText={setText} />
            <Problem text={problemText(run.runId, wrong)} />
          </SubmitForm>
        </Dialog>
      )}
    </>
  );
}
