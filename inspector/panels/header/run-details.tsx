import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { startedText } from '../../fold/format.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';

interface RunDetailsProps {
  readonly inspector: Inspector;
  readonly run: InspectedRun;
}

/** The run's id, the run that it is a fork of, how its record was checked, and what it omits. */
export function RunDetails({ inspector, run }: RunDetailsProps) {
  const { runId, startedAt, kind, fidelity, problem, integrity } = run;
  const unchecked = run.live ? 'In progress.' : 'Not checked: the run was not read from a journal with checksums.';
  return (
    <details class="run-details">
      <summary>
        Run {shortRunId(runId)}
        {fidelity.length > 0 && ' · recording limits'}
      </summary>
      <dl class="facts card">
        <div>
          <dt>Id</dt>
          <dd class="row">
            <code class="verbatim">{excerpt(runId, 200)}</code>
            <button type="button" class="link-button" onClick={() => void navigator.clipboard?.writeText(runId)}>
              Copy
            </button>
          </dd>
        </div>
        <div>
          <dt>Started</dt>
          <dd>{startedText(startedAt) ?? 'unknown'}</dd>
        </div>
        {run.forkedFrom && (
          <div>
            <dt>Fork</dt>
            <dd>
              <ForkMark inspector={inspector} run={run} /> at entry {run.forkedFrom.seq}
            </dd>
          </div>
        )}
        {kind === 'run' && (
          <div>
            <dt>Journal</dt>
            <dd>{excerpt(problem ?? integrity ?? unchecked, 400)}</dd>
          </div>
        )}
        {fidelity.length > 0 && (
          <div>
            <dt>Limits</dt>
            <dd>
              {fidelity.map((sentence) => (
                <p key={sentence}>{sentence}</p>
              ))}
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}

/** Marks a fork, with a link to where it left the run that it was forked from. In a table, arrow keys move the focus. */
export function ForkMark({
  inspector,
  run: { forkedFrom },
  isInTable = false,
}: RunDetailsProps & { readonly isInTable?: boolean }) {
  if (forkedFrom === undefined) return null;
  const { runId, seq } = forkedFrom;
  const text = `fork of ${shortRunId(runId)}`;
  if (!inspector.runs.value.some((run) => run.runId === runId)) return <span class="fork-mark muted">{text}</span>;
  return (
    <a class="fork-mark" href={`#/run/${encodeURIComponent(runId)}/${seq}`} tabIndex={isInTable ? -1 : 0}>
      {text}
    </a>
  );
}
