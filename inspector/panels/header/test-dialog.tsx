import { useLayoutEffect, useRef } from 'preact/hooks';
import { visible } from '../../ui-state/text.ts';
import './test-dialog.css';

export interface TestGiven {
  readonly runId: string;
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

interface TestDialogProps {
  readonly given: TestGiven;
  readonly onClose: () => void;
}

/** What became of asking for a test: its text, selected where it could not be copied, and what it needs; or what went wrong. */
export function TestDialog({ given: { text, problem, isCopied, runId }, onClose }: TestDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    if (problem === null) area.current?.focus();
    if (!isCopied) area.current?.select();
  }, [problem, isCopied]);
  return (
    <dialog ref={dialog} class="test-dialog" aria-labelledby="test-title" onClose={onClose}>
      <h2 id="test-title">Vitest test of this run</h2>
      {problem !== null ? (
        <p class="problem told" role="alert">
          {visible(problem)}
        </p>
      ) : (
        <>
          <p role="status">
            {isCopied ? 'Copied.' : 'The browser lets nothing be copied here: copy what is selected.'}
          </p>
          <p>
            The recording must stand beside the test as <code>./run.jsonl</code>. This writes both:
          </p>
          <pre class="told">postchain replay {visible(runId)} --vitest run.test.ts</pre>
          <label>
            <span class="unseen">The test</span>
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
