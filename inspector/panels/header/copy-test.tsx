import { useEffect, useRef, useState } from 'preact/hooks';
import type { Inspector } from '../../ui-state/inspector.ts';
import { addKeys } from '../../ui-state/keys.ts';
import { TestDialog, type TestGiven } from './test-dialog.tsx';

interface CopyTestProps {
  readonly inspector: Inspector;
  readonly runId: string;
}

/** Asks for a Vitest test of the run, copies it, and says where its recording must stand. */
export function CopyTest({ inspector, runId }: CopyTestProps) {
  const [given, setGiven] = useState<TestGiven | null>(null);
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);

  async function ask(): Promise<void> {
    setAsking(true);
    const { text, problem } = await inspector.test(runId);
    const isCopied = problem === null && (await copied(text));
    setAsking(false);
    setGiven({ text, problem, isCopied, runId });
  }

  // The key presses the button, which knows which run it is for, and whether it may be pressed.
  useEffect(
    () =>
      addKeys([{ keys: ['t'], does: 'Copy as Vitest test', group: 'Page', act: () => void button.current?.click() }]),
    [],
  );

  function close(): void {
    setGiven(null);
    button.current?.focus();
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        disabled={isAsking}
        onClick={() => void ask()}
        aria-haspopup="dialog"
        title="Copy as Vitest test (t)"
      >
        Copy test
      </button>
      {given !== null && <TestDialog given={given} onClose={close} />}
    </>
  );
}

/** Browsers refuse where the page is not to be trusted with the clipboard, as in a file. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
