import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { revealHidden } from '../fold/text.ts';

/** A written test; `problem` says why there is none. */
export interface WrittenTest {
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

/** Copies a test. Browsers refuse this in insecure contexts, for example in a file. */
export async function copyTest(text: string, problem: string | null = null): Promise<WrittenTest> {
  if (problem !== null) return { text, problem, isCopied: false };
  const isCopied = await navigator.clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  return { text, problem, isCopied: isCopied ?? false };
}

interface TestDialogProps {
  readonly title: string;
  readonly test: WrittenTest;
  readonly onClose: () => void;
  /** How to use it. */
  readonly children: ComponentChildren;
}

export function TestDialog({ title, test: { text, problem, isCopied }, onClose, children }: TestDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    if (problem === null) area.current?.focus();
    if (!isCopied) area.current?.select();
  }, [problem, isCopied]);
  return (
    <dialog ref={dialog} class="test-dialog stack" aria-labelledby="test-title" onClose={onClose}>
      <h2 id="test-title">{title}</h2>
      {problem !== null ? (
        <p class="problem verbatim" role="alert">
          {revealHidden(problem)}
        </p>
      ) : (
        <>
          <p role="status">
            {isCopied ? 'Copied.' : 'The browser does not allow copying. Copy the selected text yourself.'}
          </p>
          {children}
          <label>
            <span class="visually-hidden">The test</span>
            <textarea ref={area} readOnly rows={14} spellcheck={false} class="mono" value={text} />
          </label>
        </>
      )}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
