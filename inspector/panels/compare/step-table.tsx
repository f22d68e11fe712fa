import { useMemo, useState } from 'preact/hooks';
import type { Comparison } from '../../fold/compare/comparison.ts';
import type { Step } from '../../fold/compare/path.ts';
import type { Row } from '../../fold/compare/rows.ts';
import { type Section, sectionsOf } from '../../fold/compare/sections.ts';
import { counted } from '../../fold/number-words.ts';
import { lastBegunBy } from '../../fold/sorted.ts';
import { comparedWith } from '../../ui-state/compared.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import type { OpenedRun } from '../../ui-state/opened-run.ts';
import { Icon } from '../icon.tsx';
import { moveInTable } from './move-in-table.ts';
import { RunHeads } from './run-heads.tsx';
import { StepRow } from './step-row.tsx';

interface StepTableProps {
  readonly inspector: Inspector;
  readonly view: RunView;
  readonly runs: readonly OpenedRun[];
  readonly comparison: Comparison;
}

/** So many rows are shown at once, and so many more each time. */
const PAGE = 200;

/** All steps of the runs, side by side; what is equal is folded. */
export function StepTable({ inspector, view, runs, comparison }: StepTableProps) {
  const { rows, paths, first, cutOff, runIds } = comparison;
  const sections = useMemo(() => sectionsOf(rows), [rows]);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [most, setMost] = useState(PAGE);
  const current = useMemo(() => stepAt(paths[0] ?? [], view.at), [paths, view.at]);

  function toggle({ from, to }: Section): void {
    const key = `${from} ${to}`;
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    setOpened(next);
  }

  function go(run: number, seq: number): void {
    const runId = runIds[run];
    if (runId === undefined) return;
    if (run > 0) {
      // It takes the place of the one that is looked at.
      comparedWith.value = comparedWith.value.map((id) => (id === runId ? view.run.runId : id));
      inspector.choose(runId);
    }
    inspector.cursor.value = seq;
  }

  function headingOf({ steps }: Row): string {
    const run = steps.findIndex((step) => step !== null);
    const seq = paths[run]?.[steps[run] ?? -1]?.seq ?? 0;
    const phase = lastBegunBy(runs[run]?.fold.spans.phases ?? [], seq);
    return phase === undefined ? 'Beginning' : `Cycle ${phase.cycle} · ${phase.phase}`;
  }

  const lines = [];
  let left = most;
  let heading = '';
  for (const section of sections) {
    if (left <= 0) break;
    const { equal, from, to } = section;
    const folds = equal && to - from > 1;
    const isOpen = !folds || opened.has(`${from} ${to}`);
    if (folds) {
      left -= 1;
      const isHere = current !== null && isWithin(current, rows[from], rows[to - 1]);
      lines.push(
        <tr key={`fold ${from}`} class="fold">
          <td colSpan={paths.length + 1}>
            <button type="button" aria-expanded={isOpen} onClick={() => toggle(section)}>
              <Icon name={isOpen ? 'open' : 'shut'} /> {counted(to - from, 'equal step')}
            </button>{' '}
            <span class="muted">
              {between(rows[from], rows[to - 1], headingOf)}
              {isHere && !isOpen && ' · the cursor is here'}
            </span>
          </td>
        </tr>,
      );
    }
    if (!isOpen) continue;
    for (let at = from; at < to && left > 0; at += 1) {
      const row = rows[at];
      if (row === undefined) break;
      left -= 1;
      const now = headingOf(row);
      if (now !== heading) {
        heading = now;
        lines.push(
          <tr key={`heading ${at}`} class="phase-heading">
            <th scope="rowgroup" colSpan={paths.length + 1}>
              {now}
            </th>
          </tr>,
        );
      }
      lines.push(
        <StepRow key={at} at={at} row={row} paths={paths} isFirst={at === first} current={current} onGo={go} />,
      );
    }
  }

  return (
    <section aria-labelledby="steps-title">
      <h2 id="steps-title">Steps</h2>
      {cutOff && (
        <p class="muted">The runs differ too much to be aligned: after the first difference each goes its own way.</p>
      )}
      <table class="beside steps" onKeyDown={moveInTable}>
        <caption class="unseen">
          The steps of each run; a step moves the cursor to it, and the arrow keys go from one to the next.
        </caption>
        <RunHeads title="Step" runIds={runIds} />
        <tbody>{lines}</tbody>
      </table>
      {left <= 0 && (
        <button type="button" onClick={() => setMost(most + PAGE)}>
          Show {PAGE} more
        </button>
      )}
    </section>
  );
}

/** The steps of the first run in equal rows follow each other. */
const isWithin = (step: number, from: Row | undefined, to: Row | undefined): boolean =>
  step >= (from?.steps[0] ?? Number.POSITIVE_INFINITY) && step <= (to?.steps[0] ?? -1);

function between(from: Row | undefined, to: Row | undefined, headingOf: (row: Row) => string): string {
  if (from === undefined || to === undefined) return '';
  const [first, last] = [headingOf(from), headingOf(to)];
  return first === last ? first : `${first} – ${last}`;
}

/** The step that was taken last at an entry. Not quite in the order of entries: a cause comes before what was written before it. */
function stepAt(path: readonly Step[], at: number): number | null {
  let found: number | null = null;
  let newest = -1;
  for (const [place, { seq }] of path.entries())
    if (seq <= at && seq > newest) {
      newest = seq;
      found = place;
    }
  return found;
}
