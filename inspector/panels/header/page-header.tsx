import './header.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import type { CallMode, Profile } from '../../../machines/contracts/profile.ts';
import { answerUpTo, runStart, writingSums } from '../../fold/answer.ts';
import { formatCost, formatDuration, formatNumber, formatScore } from '../../fold/format.ts';
import { answerSelection } from '../../fold/selection.ts';
import { confidenceCap, figuresOf, statusReason } from '../../fold/summary.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { waitingAt } from '../../fold/user-events.ts';
import { Icon } from '../../icon.tsx';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { addKeys } from '../../ui-state/keys.ts';
import { THEMES, type Theme, theme } from '../../ui-state/theme.ts';
import type { RunLog } from '../../wire/run-log.ts';
import { plainMarkdown } from '../markdown.tsx';
import { RunDetails } from './run-details.tsx';

/** A generated test; `problem` is the reason if there is none. */
interface WrittenTest {
  readonly text: string;
  readonly problem: string | null;
  readonly isCopied: boolean;
}

/** Copies a test. Browsers refuse this in insecure contexts, for example in a file. */
async function copyTest(text: string, problem: string | null = null): Promise<WrittenTest> {
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

function TestDialog({ title, test: { text, problem, isCopied }, onClose, children }: TestDialogProps) {
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

const NOT_IN_A_FILE = 'Not available in an exported file. Open the journal with "postchain inspect".';

/** Returns where the phases get their replies from, in words; null for the systems of other programs. */
function profileText(log: RunLog): string | null {
  const profile = runStart(log)?.profile;
  if (profile === undefined) return null;
  const wordsOf = (phase: Phase): string => CALL_MODES[profile[phase]];
  return [...new Set(PHASES.map(wordsOf))]
    .map((words) => `${words}: ${PHASES.filter((phase) => wordsOf(phase) === words).join(', ')}`)
    .join(' · ');
}

const CALL_MODES = {
  always: 'own call',
  'if-needed': 'only with capabilities',
  own: 'own call',
  brief: 'own call, brief reply',
  shared: 'shared brief reply',
  policy: 'no model call',
} as const satisfies Record<CallMode | Profile['action'] | Profile['yield'], string>;

interface HeaderProps {
  readonly inspector: Inspector;
  readonly view: RunView | null;
  readonly onHelp: () => void;
}

export function PageHeader({ inspector, view, onHelp }: HeaderProps) {
  const { connection } = inspector;
  return (
    <header class="page-header">
      <div class="title-row">
        {view !== null && connection.value !== 'file' && (
          <button type="button" class="to-runs" onClick={() => inspector.selectRun(null)}>
            <Icon name="arrow-left" /> Runs
          </button>
        )}
        <h1 class="verbatim" title={view === null ? undefined : excerpt(view.run.title, 1_000)}>
          {view === null ? 'PostChain' : excerpt(view.run.title, 300) || 'Untitled'}
        </h1>
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
        <button type="button" class="help-button" onClick={onHelp} aria-haspopup="dialog" title="Keys and help (?)">
          ?
        </button>
      </div>
      {view === null ? (
        connection.value === 'lost' && <LostConnection />
      ) : (
        <div class="status-row">
          <RunStatus inspector={inspector} view={view} />
          {view.run.kind === 'run' && <Figures view={view} />}
        </div>
      )}
    </header>
  );
}

const LostConnection = () => (
  <span class="pill bad" role="status">
    not connected
  </span>
);

function RunStatus({ inspector, view }: { readonly inspector: Inspector; readonly view: RunView }) {
  const { run, log, fold, count, end } = view;
  const isLost = inspector.connection.value === 'lost';
  const waiting = run.live && !isLost && run.kind === 'run' ? waitingAt(log, fold, count - 1) : null;
  const { answer, seq = 0 } = answerUpTo(log, fold, count - 1) ?? {};
  const cap = answer === undefined ? null : confidenceCap(log, fold, answer);
  const [{ cost }, { currency }] = [writingSums(fold, seq), fold.spans];
  const status = end?.problem ? 'damaged' : run.status;
  return (
    <div class="status">
      <span class={`pill ${status}`} role="status">
        {isLost && run.live ? 'not connected' : run.live ? 'live' : status}
      </span>
      {isLost && !run.live && <LostConnection />}
      {waiting !== null && (
        <span class="pill awaiting">waiting for {waiting.for === 'direction' ? 'a direction' : waiting.for}</span>
      )}
      <p class="reason verbatim one-line">
        {end?.problem ? (
          <span role="alert">{excerpt(end.problem, 300)}</span>
        ) : (
          excerpt(statusReason(run, log, fold, count), 300)
        )}
      </p>
      <RunDetails inspector={inspector} run={run} profile={profileText(log)} />
      {run.kind === 'run' && (
        <p class="answer-line one-line">
          <button
            type="button"
            class="link-button"
            disabled={answer === undefined}
            onClick={() => {
              inspector.select(answerSelection(fold, count));
            }}
          >
            Answer
          </button>{' '}
          {answer === undefined ? (
            'none yet'
          ) : (
            <>
              <span class={cap === null ? '' : 'capped'} title={cap?.full}>
                confidence {formatScore(answer.confidence)}
                {cap !== null && `, capped: ${cap.short}`}
              </span>{' '}
              {cost !== null && currency !== null && `· written for ${formatCost({ amount: cost, currency })} `}·{' '}
              <span class="verbatim">{plainMarkdown(answer.answerText, 400)}</span>
            </>
          )}
        </p>
      )}
    </div>
  );
}

function Figures({ view: { run, log, fold, count } }: { readonly view: RunView }) {
  const { ms, cycles, calls, tokens, cost } = figuresOf(log, fold, count);
  const figures = [
    ['Duration', formatDuration(ms)],
    ['Cycles', formatNumber(cycles)],
    ['Model calls', formatNumber(calls)],
    ['Tokens', formatNumber(tokens)],
    ['Cost', cost === null ? '–' : formatCost(cost)],
  ] as const;
  return (
    <dl class="figures" title={run.summary?.models.map((model) => excerpt(model, 80)).join(', ')}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface CopyTestProps {
  readonly inspector: Inspector;
  readonly runId: string;
}

/** Requests a Vitest test of the run, copies it, and shows where its recording must be. */
function CopyTest({ inspector, runId }: CopyTestProps) {
  const [result, setResult] = useState<WrittenTest | null>(null);
  const [isAsking, setAsking] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isFile = inspector.connection.value === 'file';

  async function ask(): Promise<void> {
    setAsking(true);
    const { text, problem } = await inspector.test(runId);
    const test = await copyTest(text, problem);
    setAsking(false);
    setResult(test);
  }

  // The key clicks the button, which knows its run and whether it is enabled.
  useEffect(
    () =>
      addKeys([
        { keys: ['t'], description: 'Copy the replay test', group: 'Page', act: () => void button.current?.click() },
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
        disabled={isAsking || isFile}
        onClick={() => void ask()}
        aria-haspopup="dialog"
        title={isFile ? NOT_IN_A_FILE : 'A Vitest test that replays this run (t)'}
      >
        Copy replay test
      </button>
      {result !== null && (
        <TestDialog title="Replay test of this run" test={result} onClose={close}>
          <p>
            The test expects the recording next to it, as <code>run.jsonl</code>. In a project with{' '}
            <code>postchain</code> and <code>vitest</code>, these commands write both and run the test:
          </p>
          <pre class="verbatim">
            {`npx postchain replay ${revealHidden(runId)} --vitest run.test.ts\nnpx vitest run run.test.ts`}
          </pre>
        </TestDialog>
      )}
    </>
  );
}
