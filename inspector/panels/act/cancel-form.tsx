import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SendButton } from './send-button.tsx';

interface CancelFormProps {
  readonly isBusy: boolean;
  readonly onSend: (event: unknown) => Promise<boolean>;
}

/** Cancels a run, once somebody has said so twice. */
export function CancelForm({ isBusy, onSend }: CancelFormProps) {
  const [isOpen, setOpen] = useState(false);
  const [reason, setReason] = useState('');
  const input = useRef<HTMLInputElement>(null);
  // Once: the page is drawn again with every entry that comes.
  useLayoutEffect(() => input.current?.focus(), [isOpen]);
  if (!isOpen)
    return (
      <button type="button" aria-expanded={false} onClick={() => setOpen(true)}>
        Cancel…
      </button>
    );

  async function submit(submitted: Event): Promise<void> {
    submitted.preventDefault();
    if (isBusy) return;
    const said = reason.trim();
    if (await onSend({ type: 'run.cancelled', ...(said !== '' && { reason: said }) })) setOpen(false);
  }

  return (
    <form
      class="cancel"
      aria-label="Cancel"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (event.key === 'Escape') setOpen(false);
      }}
    >
      <label class="field">
        <span>
          Why <span class="muted">optional</span>
        </span>
        <input
          type="text"
          autocomplete="off"
          ref={input}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </label>
      <div class="buttons">
        <SendButton isBusy={isBusy} submits>
          Cancel the run
        </SendButton>
        <button type="button" onClick={() => setOpen(false)}>
          Not now
        </button>
      </div>
    </form>
  );
}
