import type { ComponentChildren } from 'preact';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { formatNumber, startedText } from '../../fold/format.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { CopyButton, Facts } from '../parts.tsx';

interface RunDetailsProps {
  readonly inspector: Inspector;
  readonly run: InspectedRun;
  /** Where its phases get their replies from; empty if unknown. */
  readonly profile?: string;
}

/** What else is known about a run: its id, its profile, how its journal was checked, what its recording omits. */
export function RunFacts({ inspector, run, profile = '' }: RunDetailsProps) {
  const { runId, startedAt, kind, machine, fidelity, forkedFrom, problem, integrity, summary } = run;
  const unchecked = run.live ? 'In progress.' : 'Not checked: the run was not read from a journal with checksums.';
  const rows: readonly (readonly [string, ComponentChildren])[] = [
    [
      'Id',
      <>
        <code class="verbatim">{excerpt(runId, 200)}</code> <CopyButton key={runId} what="id" text={() => runId} />
      </>,
    ],
    ['Machine', machine !== undefined && <code class="verbatim">{excerpt(machine, 200)}</code>],
    ['Started', startedText(startedAt)],
    ['Model', excerpt(summary?.models.join(', then ') ?? '', 200)],
    ['Fork', forkedFrom && <ForkMark inspector={inspector} run={run} />],
    ['Profile', profile],
    ['Journal', (kind === 'run' || machine !== undefined) && excerpt(problem ?? integrity ?? unchecked, 400)],
    ['Limits', fidelity.length > 0 && fidelity.map((sentence) => <p key={sentence}>{sentence}</p>)],
  ];
  return <Facts facts={rows} />;
}

interface ForkMarkProps extends Pick<RunDetailsProps, 'inspector' | 'run'> {
  readonly changes?: readonly string[];
}

/** Marks a fork, with a link to where it left the run that it was forked from. */
export function ForkMark({ inspector, run: { forkedFrom }, changes = [] }: ForkMarkProps) {
  if (forkedFrom === undefined) return null;
  const { runId, seq } = forkedFrom;
  const isKnown = inspector.runs.value.some((run) => run.runId === runId);
  return (
    <span class="verbatim">
      fork of{' '}
      <a {...(isKnown && { href: `#/run/${encodeURIComponent(runId)}/${seq}` })}>
        {shortRunId(runId)} at entry {formatNumber(seq)}
      </a>
      {changes.length > 0 && `: ${excerpt(changes.join(', '), 300)}`}
    </span>
  );
}
