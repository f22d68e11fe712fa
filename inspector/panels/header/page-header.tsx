import { waitingAt } from '../../fold/waiting-at.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { shownPanel } from '../../ui-state/panel.ts';
import { runName } from '../../ui-state/run-name.ts';
import { shortly } from '../../ui-state/text.ts';
import { THEMES, type Theme, theme } from '../../ui-state/theme.ts';
import { CopyTest } from './copy-test.tsx';

interface HeaderProps {
  readonly inspector: Inspector;
  readonly view: RunView | null;
  readonly onHelp: () => void;
}

/** Which run is looked at, how it stands, and what its record does not tell. */
export function PageHeader({ inspector, view, onHelp }: HeaderProps) {
  const { runs, connection } = inspector;
  return (
    <header class="page-header">
      <h1>PostChain</h1>
      <label class="run-choice">
        <span class="unseen">Run</span>
        <select value={view?.run.runId ?? ''} onChange={({ currentTarget }) => inspector.choose(currentTarget.value)}>
          {runs.value.map((run) => (
            <option key={run.runId} value={run.runId}>
              {runName(run)}
            </option>
          ))}
        </select>
      </label>
      {view !== null && <RunStatus view={view} />}
      {connection.value === 'lost' && (
        <span class="pill bad" role="status">
          not connected
        </span>
      )}
      <span class="gap" />
      {view?.run.kind === 'run' && <CopyTest inspector={inspector} runId={view.run.runId} />}
      <label class="theme-choice">
        <span class="unseen">Theme</span>
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
          class="pill asks"
          title="Answer it in Act"
          onClick={() => {
            shownPanel.value = 'act';
          }}
        >
          waits for {waiting.for === 'consent' ? 'consent' : 'a direction'}
        </button>
      )}
      {run.fidelity.length > 0 && (
        <details class="fidelity">
          <summary>What this record leaves out</summary>
          <ul>
            {run.fidelity.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </details>
      )}
      {end?.problem && (
        <span class="pill bad" role="alert">
          {shortly(end.problem, 300)}
        </span>
      )}
    </>
  );
}
