import { useState } from 'preact/hooks';
import { PHASE_NAMES } from '../../fold/phase-names.ts';
import { SendButton } from './send-button.tsx';

interface DirectFormProps {
  /** What is chosen first. */
  readonly proposal: string;
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

/** Sends a run on to a phase, with a word on what to do there. */
export function DirectForm({ proposal, isBusy, onSend }: DirectFormProps) {
  const [chosen, choose] = useState<string | null>(null);
  const [prompt, setPrompt] = useState('');
  const phase = chosen ?? PHASE_NAMES.find((name) => name === proposal) ?? 'action';

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const said = prompt.trim();
    if (await onSend({ type: 'run.directed', phase, ...(said !== '' && { prompt: said }) })) setPrompt('');
  }

  return (
    <form class="direct" aria-label="Direct to a phase" onSubmit={submit}>
      <div class="phases" role="radiogroup" aria-label="Phase">
        {PHASE_NAMES.map((name) => (
          <label key={name}>
            <input type="radio" name="phase" value={name} checked={name === phase} onChange={() => choose(name)} />
            {name}
            {name === proposal && <span class="muted"> proposed</span>}
          </label>
        ))}
      </div>
      <label class="field">
        <span>
          What to do there <span class="muted">optional</span>
        </span>
        <textarea rows={2} value={prompt} onInput={({ currentTarget }) => setPrompt(currentTarget.value)} />
      </label>
      <SendButton isBusy={isBusy} submits>
        Go on with {phase}
      </SendButton>
    </form>
  );
}
