import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ActAnswer, InspectedRun, NeedsTrust, RunAction } from '../../../src/inspection/wire.ts';
import { revealHidden } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import type { PanelProps } from '../panel.tsx';
import { Problem } from './event-forms.tsx';

interface ActionResult {
  readonly isBusy: boolean;
  /** A result in one sentence; may be empty. */
  readonly note: string;
  readonly act: (action: RunAction) => Promise<void>;
  /** The question whether to trust the run, and what went wrong. */
  readonly messages: ComponentChildren;
}

/** Acts on a recorded run. A new run opens, compared with this one. */
export function useRunAction(inspector: Inspector, { runId }: InspectedRun): ActionResult {
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ readonly action: RunAction; readonly result: ActAnswer } | null>(null);

  async function act(action: RunAction, confirmed: NeedsTrust | null = null): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    const result = await inspector.act(runId, action, confirmed);
    setBusy(false);
    setAsked({ action, result });
    if (result.runId === null || result.runId === runId) return;
    comparedRuns.value = [runId, result.runId];
  }

  const { needsTrust = null, problem = null, note = '' } = asked?.result ?? {};
  const messages = (
    <>
      {needsTrust !== null && asked !== null && (
        <section class="card waiting" aria-label="Confirmation" role="alert">
          <h2>Do you trust this run?</h2>
          <p>
            It may not be what you expect, because {revealHidden(needsTrust.doubt)}. To continue it, PostChain would:
          </p>
          <ul class="actions">
            {needsTrust.actions.map((action) => (
              <li key={action} class="verbatim">
                {revealHidden(action)}
              </li>
            ))}
          </ul>
          <div class="row">
            <button type="button" onClick={() => setAsked(null)}>
              Cancel
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void act(asked.action, needsTrust)}>
              Trust and continue
            </button>
          </div>
        </section>
      )}
      <Problem text={problem ?? ''} />
    </>
  );
  return { isBusy, note, act, messages };
}

/** Continues a run that is not live: resumes or replays it. */
export function RecordedRun({ inspector, view }: PanelProps) {
  const { run } = view;
  const { isBusy, note, act, messages } = useRunAction(inspector, run);
  return (
    <div class="recorded stack">
      {run.status === 'running' && (
        <p>Another process is executing this run. To send it events, open that process’s inspector.</p>
      )}
      {(run.status === 'interrupted' || run.status === 'waiting') && (
        <section aria-label="Resume">
          <h2>{run.status === 'waiting' ? 'This run waits' : 'This run was interrupted'}</h2>
          <p>It continues where it stopped and does not repeat finished calls.</p>
          <button type="button" class="primary" disabled={isBusy} onClick={() => void act({ type: 'resume' })}>
            Resume
          </button>
        </section>
      )}
      {messages}
      <section aria-label="Replay">
        <div class="row">
          <button type="button" disabled={isBusy} onClick={() => void act({ type: 'replay' })}>
            Replay
          </button>
          <p role="status" class="verbatim">
            {revealHidden(note)}
          </p>
        </div>
        <p class="muted">
          Replays the recorded events on the charts of this version, without calling the model, and compares every
          entry.
        </p>
      </section>
    </div>
  );
}
