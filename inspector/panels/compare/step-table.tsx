import { useMemo, useState } from 'preact/hooks';
import type { Comparison } from '../../fold/compare/comparison.ts';
import type { Step } from '../../fold/compare/path.ts';
import type { Row } from '../../fold/compare/rows.ts';
import { type Section, sectionsOf } from '../../fold/compare/sections.ts';
import { guardInWords } from '../../fold/guard-words.ts';
import { counted } from '../../fold/number-words.ts';
import { lastBegunBy } from '../../fold/sorted.ts';
import { comparedWith, letterOf } from '../../ui-state/compared.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import type { OpenedRun } from '../../ui-state/opened-run.ts';
import { stateName } from '../../ui-state/state-name.ts';
import { Icon } from '../icon.tsx';
import { RunHeads } from './run-heads.tsx';

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

const LINES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
const CELLS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Arrow keys go from button to button of a table: to the next line that has one in the same column, or to the next in the line. */
function moveInTable(event: KeyboardEvent): void {
  const { target, key } = event;
  const cell = target instanceof HTMLButtonElement ? target.closest('td') : null;
  const line = cell?.parentElement;
  if (!(cell instanceof HTMLTableCellElement) || !(line instanceof HTMLTableRowElement)) return;
  const next = nextIn(line, cell, LINES[key] ?? 0) ?? besideIn(line, cell, CELLS[key] ?? 0);
  if (next === null) return;
  event.preventDefault();
  next.focus();
}

function nextIn(line: HTMLTableRowElement, { cellIndex }: HTMLTableCellElement, step: number): HTMLElement | null {
  if (step === 0) return null;
  const go = (row: Element): Element | null => (step > 0 ? row.nextElementSibling : row.previousElementSibling);
  // A line that is folded is one cell; from there it goes on with the first run.
  const column = Math.max(1, cellIndex);
  for (let row = go(line); row instanceof HTMLTableRowElement; row = go(row)) {
    const found = row.cells[Math.min(column, row.cells.length - 1)]?.querySelector('button');
    if (found) return found;
  }
  return null;
}

function besideIn(line: HTMLTableRowElement, { cellIndex }: HTMLTableCellElement, step: number): HTMLElement | null {
  return step === 0 ? null : (line.cells[cellIndex + step]?.querySelector('button') ?? null);
}

interface StepRowProps {
  readonly at: number;
  readonly row: Row;
  readonly paths: readonly (readonly Step[])[];
  readonly isFirst: boolean;
  /** The step of the first run that the cursor stands on. */
  readonly current: number | null;
  readonly onGo: (run: number, seq: number) => void;
}

/** One step of each run: where it led, by which guard, and the entry that tells of it. */
function StepRow({ at, row: { steps, equal }, paths, isFirst, current, onGo }: StepRowProps) {
  return (
    <tr class={`${equal ? '' : 'differs'}${isFirst ? ' first' : ''}`}>
      <th scope="row">
        {at + 1}
        {isFirst && <span class="first-mark"> parts</span>}
      </th>
      {steps.map((place, run) => {
        const step = place === null ? undefined : paths[run]?.[place];
        if (step === undefined)
          return (
            <td key={letterOf(run)} class="muted">
              –
            </td>
          );
        const { way, seq } = step;
        const isHere = run === 0 && place === current;
        return (
          <td key={letterOf(run)}>
            <button
              type="button"
              class={way.machine === 'postChain' ? 'step' : 'step nested'}
              aria-current={isHere ? 'step' : undefined}
              title={`Entry ${seq} of ${letterOf(run)}: ${way.source} to ${way.target.join(', ')}`}
              onClick={() => onGo(run, seq)}
            >
              {stateName(way.source)} <Icon name="leads" /> {way.target.map(stateName).join(', ') || 'stays'}
              {way.guard !== null && (
                <span class="guard" title={way.guard}>
                  {' '}
                  {guardInWords(way.guard)}
                </span>
              )}
            </button>
          </td>
        );
      })}
    </tr>
  );
}
