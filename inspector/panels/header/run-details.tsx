import type { ComponentChildren } from 'preact';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { capitalize, startedText } from '../../fold/format.ts';
import { countUpTo, lastStartedBy } from '../../fold/sorted.ts';
import { stepStarts } from '../../fold/system-step.ts';
import { excerpt, shortRunId } from '../../fold/text.ts';
import { WithArrows } from '../../icon.tsx';
import type { PanelProps } from '../panel.tsx';
import { CopyButton, Facts } from '../parts.tsx';

interface RunDetailsProps {
  readonly run: InspectedRun;
  /** Where its phases get their replies from; empty if unknown. */
  readonly profile?: string;
}

/** What else is known about a run: its id, its profile, how its journal was checked, what its recording omits. */
export function RunFacts({ run, profile = '' }: RunDetailsProps) {
  const { runId, startedAt, kind, machine, fidelity, problem, integrity, summary } = run;
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
    ['Profile', profile],
    ['Journal', (kind === 'run' || machine !== undefined) && excerpt(problem ?? integrity ?? unchecked, 400)],
    ['Limits', fidelity.length > 0 && fidelity.map((sentence) => <p key={sentence}>{sentence}</p>)],
  ];
  return <Facts facts={rows} />;
}

interface ForkMarkProps extends PanelProps {
  readonly changes?: readonly string[];
}

/** Marks a fork, with a link to where it left the run that it was forked from. */
export function ForkMark({ inspector, view, changes = [] }: ForkMarkProps) {
  const { run, fold } = view;
  if (run.forkedFrom === undefined) return null;
  const { runId, seq } = run.forkedFrom;
  const isKnown = inspector.runs.value.some((one) => one.runId === runId);
  const { phase, cycle } = lastStartedBy(fold.spans.phases, seq) ?? {};
  const place =
    run.kind === 'system'
      ? `after step ${countUpTo(stepStarts(fold), seq)}`
      : phase === undefined
        ? 'at its start'
        : `in ${capitalize(phase)}, cycle ${cycle}`;
  return (
    <span class="verbatim">
      Fork of{' '}
      <a {...(isKnown && { href: `#/run/${encodeURIComponent(runId)}/${seq}` })}>
        {shortRunId(runId)} {place}
      </a>
      {changes.length > 0 && (
        <b>
          : <WithArrows text={excerpt(changes.join(', '), 300)} />
        </b>
      )}
    </span>
  );
}
