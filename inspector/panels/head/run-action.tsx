import { useState } from 'preact/hooks';
import type { ActResult, InspectedRun, NeedsTrust, RequestResult, RunAction } from '../../../src/inspection/wire.ts';
import { revealHidden } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { Problem } from './event-forms.tsx';

/** A form near the lower edge grows below it. */
const showWhole = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

/** Acts on a recorded run. A new run opens in a comparison with this one. `messages`: whether to trust the run, and what went wrong. */
export function useRunAction(inspector: Inspector, { runId }: InspectedRun) {
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ readonly action: RunAction; readonly reply: RequestResult<ActResult> } | null>(
    null,
  );

  async function act(action: RunAction, confirmed: NeedsTrust | null = null): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    const reply = await inspector.request({ type: 'act', runId, action, confirmed });
    setBusy(false);
    setAsked({ action, reply });
    const started = reply.result?.runId ?? runId;
    if (started !== runId) comparedRuns.value = [runId, started];
  }

  const { needsTrust = null } = asked?.reply.result ?? {};
  const messages = (
    <>
      {needsTrust !== null && asked !== null && (
        <section class="sunken stack" aria-label="Confirmation" role="alert" ref={showWhole}>
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
      <Problem text={asked?.reply.problem ?? ''} />
    </>
  );
  return { isBusy, act, messages };
}
