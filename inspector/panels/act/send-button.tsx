import type { ComponentChildren } from 'preact';

interface SendButtonProps {
  readonly isBusy: boolean;
  readonly submits?: boolean;
  readonly onSend?: () => void;
  readonly children: ComponentChildren;
}

/** Tells the run something. The second click of a double click tells nothing, however soon the first was answered. */
export function SendButton({ isBusy, submits = false, onSend, children }: SendButtonProps) {
  return (
    <button
      type={submits ? 'submit' : 'button'}
      aria-disabled={isBusy}
      onClick={(event) => {
        if (isBusy || event.detail > 1) event.preventDefault();
        else onSend?.();
      }}
    >
      {children}
    </button>
  );
}
