import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ComparedRow, Pair } from '../../fold/compare/align.ts';
import type { ComparedStep, Comparison } from '../../fold/compare/comparison.ts';
import { capitalize, pluralize } from '../../fold/format.ts';
import { guardTitle } from '../../fold/guard-words.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import { excerpt, stateName } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { OpenedRun } from '../../ui-state/inspector.ts';
import { Folded } from '../folded.tsx';

export const LETTERS: Pair<string> = ['A', 'B'];

interface CompareTableProps {
  readonly caption: string;
  readonly hidesCaption?: boolean;
  /** The column titles. */
  readonly heads: readonly string[];
  readonly children: ComponentChildren;
}

export const CompareTable = ({ caption, hidesCaption = false, heads, children }: CompareTableProps) => (
  <table class="compare-table">
    <caption class={hidesCaption ? 'visually-hidden' : ''}>{caption}</caption>
    <thead>
      <tr>{heads.map((head) => (head === '' ? <td key={head} /> : <th key={head}>{head}</th>))}</tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

interface CompareStepsProps {
  readonly runs: Pair<OpenedRun>;
  readonly comparison: Comparison;
}

/** Rows that are all equal, or all differ in the same phase; `to` is exclusive. */
interface Part {
  readonly equal: boolean;
  readonly title: string;
  readonly from: number;
  to: number;
}

const MAX_PARTS = 300;

/** All steps of the runs, side by side, from their common start on; all but the first difference are folded. */
export function CompareSteps({ runs, comparison }: CompareStepsProps) {
  const { rows, paths, first, cutOff, runIds } = comparison;
  const parts = useMemo(() => partsOf(comparison, runs), [comparison]);
  const rangeText = ({ title, to }: Part): string => {
    const end = placeOfRow(comparison, runs, to - 1);
    return end === title ? title : `${title} to ${end}`;
  };
  return (
    <details class="compare-steps">
      <summary>All steps side by side</summary>
      {cutOff && <p class="muted">The runs differ too much to align their steps after the first difference.</p>}
      {parts.slice(0, MAX_PARTS).map((part) => {
        const { equal, title, from, to } = part;
        return (
          <Folded
            key={`${from} ${equal}`}
            isOpenFirst={from === first}
            summary={
              <>
                {equal ? pluralize(to - from, 'equal step') : title}{' '}
                <span class="muted">
                  {equal
                    ? rangeText(part)
                    : LETTERS.map((letter, run) => `${letter} ${countIn(rows, from, to, run)}`).join(' · ')}
                </span>
              </>
            }
            content={() => (
              <>
                <CompareTable caption={title} hidesCaption heads={['Step', 'A', 'B']}>
                  {rows.slice(from, Math.min(to, from + MAX_ROWS)).map(({ steps }) => (
                    <tr key={steps.join()} class={equal ? '' : 'differs'}>
                      <th scope="row">{1 + Math.max(steps[0] ?? 0, steps[1] ?? 0)}</th>
                      {steps.map((index, run) => (
                        <td key={LETTERS[run]}>
                          <StepLink runId={runIds[run] ?? ''} step={index === null ? undefined : paths[run]?.[index]} />
                        </td>
                      ))}
                    </tr>
                  ))}
                </CompareTable>
                {to - from > MAX_ROWS && <p class="muted">and {pluralize(to - from - MAX_ROWS, 'more step')}</p>}
              </>
            )}
          />
        );
      })}
      {parts.length > MAX_PARTS && <p class="muted">and {parts.length - MAX_PARTS} more parts</p>}
    </details>
  );
}

const MAX_ROWS = 500;

function partsOf(comparison: Comparison, runs: Pair<OpenedRun>): readonly Part[] {
  const parts: Part[] = [];
  for (const [at, row] of comparison.rows.entries()) {
    const last = parts.at(-1);
    const title = row.equal && last?.equal ? last.title : placeOfRow(comparison, runs, at);
    if (last !== undefined && last.equal === row.equal && (row.equal || last.title === title)) last.to = at + 1;
    else parts.push({ equal: row.equal, title, from: at, to: at + 1 });
  }
  return parts;
}

/** Where in a run a row is: `Cycle 2, Yield`. */
export function placeOfRow({ rows, paths, answers }: Comparison, runs: Pair<OpenedRun>, at: number): string {
  const [left, right] = rows[at]?.steps ?? [null, null];
  const run = left === null ? 1 : 0;
  const seq = paths[run][left ?? right ?? -1]?.seq ?? 0;
  if (seq > answers[run]) return 'Answer';
  const phase = lastStartedBy(runs[run].fold.spans.phases, seq);
  return phase === undefined ? 'Start' : `Cycle ${phase.cycle}, ${capitalize(phase.phase)}`;
}

function countIn(rows: readonly ComparedRow[], from: number, to: number, run: number): string {
  const count = rows.slice(from, to).filter(({ steps }) => steps[run] !== null).length;
  return count === 0 ? 'none' : pluralize(count, 'step');
}

function StepLink({ runId, step }: { readonly runId: string; readonly step: ComparedStep | undefined }) {
  if (step === undefined) return <span class="muted">–</span>;
  const { source, target, guard } = step.transition;
  return (
    <a href={`#/run/${encodeURIComponent(runId)}/${step.seq}`}>
      {excerpt(stateName(source), 60)} <Icon name="arrow-right" />{' '}
      {excerpt(target.map(stateName).join(', '), 80) || 'stays'}
      {guard !== null && <span class="muted"> {excerpt(guardTitle(guard), 60)}</span>}
    </a>
  );
}
