import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { excerpt, revealHidden, runName } from '../../fold/text.ts';
import { waitingAt } from '../../fold/user-events.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { addKeys } from '../../ui-state/keys.ts';
import { activePanel } from '../../ui-state/panel.ts';
import { THEMES, type Theme, theme } from '../../ui-state/theme.ts';

interface HeaderProps {
  readonly inspector: Inspector;
  readonly view: RunView | null;
  readonly onHelp: () => void;
}

/** The selected run, its status and the limits of its recording. */
export function PageHeader({ inspector, view, onHelp }: HeaderProps) {
  const { runs, connection } = inspector;
  return (
    <header class="page-header">
      <h1>PostChain</h1>
      {view !== null && connection.value !== 'file' && (
        <button type="button" onClick={() => inspector.selectRun(null)}>
          Runs
        </button>
      )}
      {view !== null && (
        <label class="run-choice">
          <span class="visually-hidden">Run</span>
          <select
            value={view?.run.runId ?? ''}
            onChange={({ currentTarget }) => inspector.selectRun(currentTarget.value)}
          >
            {runs.value.map((run) => (
              <option key={run.runId} value={run.runId}>
                {runName(run)}
              </option>
            ))}
          </select>
        </label>
      )}
      {view !== null && !(view.run.live && connection.value === 'lost') && <RunStatus view={view} />}
      {connection.value === 'lost' && (
        <span class="pill bad" role="status">
          not connected
        </span>
      )}
      <span class="gap" />
      {view?.run.kind === 'run' && <CopyTest inspector={inspector} runId={view.run.runId} />}
      <label class="theme-choice">
        <span class="visually-hidden">Theme</span>
        <select
          value={theme.value}
          onChange={({ currentTarget }) => {
            theme.value = currentTarget.value as Theme;
          }}
        >
          {THEMES.map((name) => (
            <option key={name} value={name}>
              {name} theme
            </option>
          ))}
        </select>
      </label>
      <button type="button" onClick={onHelp} aria-haspopup="dialog" title="Keys and help (?)">
        ?
      </button>
    </header>
  );
}

function RunStatus({ view: { run, log, fold, count, end } }: { readonly view: RunView }) {
  const waiting = run.live && run.kind === 'run' ? waitingAt(log, fold, count - 1) : null;
  return (
    <>
      <span class={`pill ${run.status}`} role="status">
        {run.live ? 'live' : run.status}
      </span>
      {waiting !== null && (
        <button
          type="button"
          class="pill awaiting"
          title="Answer in Act"
          onClick={() => {
            activePanel.value = 'act';
          }}
        >
          waiting for {waiting.for === 'consent' ? 'consent' : 'a direction'}
        </button>
      )}
      {run.fidelity.length > 0 && (
        <details class="fidelity">
          <summary>Recording limits</summary>
          <ul>
            {run.fidelity.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
      {end?.problem && (
        <span class="pill bad" role="alert">
          {excerpt(end.problem, 300)}
        </span>
      )}
    </>
  );
}

interface CopyTestProps {
  readonly inspector: Inspector;
  readonly runId: string;
}

/** Requests a Vitest test of the run, copies it, and shows where its recording must be. */
function CopyTest({ inspector, runId }: CopyTestProps) {
  const [result, setResult] = useState<TestResult | null>(null);
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);

  async function ask(): Promise<void> {
    setAsking(true);
    const { text, problem } = await inspector.test(runId);
    const isCopied = problem === null && (await copied(text));
    setAsking(false);
    setResult({ text, problem, isCopied, runId });
  }

  // The key clicks the button, which knows its run and whether it is enabled.
  useEffect(
    () =>
      addKeys([
        { keys: ['t'], description: 'Copy as Vitest test', group: 'Page', act: () => void button.current?.click() },
      ]),
    [],
  );

  function close(): void {
    setResult(null);
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
      {result !== null && <TestDialog result={result} onClose={close} />}
    </>
  );
}

/** Browsers refuse this in insecure contexts, for example in a file. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

interface TestResult {
  readonly runId: string;
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

interface TestDialogProps {
  readonly result: TestResult;
  readonly onClose: () => void;
}

/** The requested test (selected if it could not be copied) with instructions, or the problem. */
function TestDialog({ result: { text, problem, isCopied, runId }, onClose }: TestDialogProps) {
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
        <p class="problem verbatim" role="alert">
          {revealHidden(problem)}
        </p>
      ) : (
        <>
          <p role="status">
            {isCopied ? 'Copied.' : 'The browser does not allow copying. Copy the selected text yourself.'}
          </p>
          <p>
            The test expects the recording next to it, as <code>./run.jsonl</code>. This command writes both:
          </p>
          <pre class="verbatim">postchain replay {revealHidden(runId)} --vitest run.test.ts</pre>
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
