import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly class?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog in front of the page. Its first field has the focus. Escape and the button close it; the focus returns to where it was. */
export function Dialog({ title, class: name = '', onClose, children }: DialogProps) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  // Before painting, so that the next key reaches the dialog.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  return (
    <dialog ref={dialog} class={name} aria-labelledby={id} onClose={onClose}>
      <header class="row">
        <h2 id={id}>{title}</h2>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </header>
      {children}
    </dialog>
  );
}
