import { useMemo, useState } from 'preact/hooks';
import type { Pair, Row, Section } from '../../fold/compare/align.ts';
import type { Comparison, Step } from '../../fold/compare/comparison.ts';
import { humanizeGuard, pluralize } from '../../fold/format.ts';
import { lastStartedBy } from '../../fold/sorted.ts';
import { stateName } from '../../fold/text.ts';
import { Icon } from '../../icon.tsx';
import type { OpenedRun } from '../../ui-state/inspector.ts';
import { LETTERS, RunHeads } from './differences.tsx';

interface StepTableProps {
  /** The cursor in run A. */
  readonly at: number;
  readonly runs: Pair<OpenedRun>;
  readonly comparison: Comparison;
  readonly onGo: (run: 0 | 1, seq: number) => void;
}

/** Rows shown at first, and added by each click on "Show more". */
const PAGE = 200;

/** All steps of the runs, side by side; equal steps are folded. */
export function StepTable({ at: cursor, runs, comparison, onGo }: StepTableProps) {
  const { rows, sections, paths, first, cutOff } = comparison;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [max, setMost] = useState(PAGE);
  const current = useMemo(() => stepAt(paths[0], cursor), [paths, cursor]);

  function toggle({ from, to }: Section): void {
    const key = `${from} ${to}`;
    const next = new Set(opened);
    if (!next.delete(key)) next.add(key);
    setOpened(next);
  }

  function headingOf({ steps: [left, right] }: Row): string {
    const run = left === null ? 1 : 0;
    const seq = paths[run][left ?? right ?? -1]?.seq ?? 0;
    const phase = lastStartedBy(runs[run].fold.spans.phases, seq);
    return phase === undefined ? 'Start' : `Cycle ${phase.cycle} · ${phase.phase}`;
  }

  const lines = [];
  let left = max;
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
          <td colSpan={COLUMNS}>
            <button type="button" class="plain" aria-expanded={isOpen} onClick={() => toggle(section)}>
              <Icon name={isOpen ? 'expanded' : 'collapsed'} /> {pluralize(to - from, 'equal step')}
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
            <th scope="rowgroup" colSpan={COLUMNS}>
              {now}
            </th>
          </tr>,
        );
      }
      lines.push(
        <StepRow key={at} at={at} row={row} paths={paths} isFirst={at === first} current={current} onGo={onGo} />,
      );
    }
  }

  return (
    <section aria-labelledby="steps-title">
      <h2 id="steps-title">Steps</h2>
      {cutOff && <p class="muted">The runs differ too much to align their steps after the first difference.</p>}
      <table class="side-by-side steps" onKeyDown={moveInTable}>
        <caption class="visually-hidden">
          The steps of each run. Click a step to move the cursor to it; arrow keys move between steps.
        </caption>
        <RunHeads title="Step" />
        <tbody>{lines}</tbody>
      </table>
      {left <= 0 && (
        <button type="button" onClick={() => setMost(max + PAGE)}>
          Show {PAGE} more
        </button>
      )}
    </section>
  );
}

/** Equal rows hold consecutive steps of run A. */
const isWithin = (step: number, from: Row | undefined, to: Row | undefined): boolean =>
  step >= (from?.steps[0] ?? Number.POSITIVE_INFINITY) && step <= (to?.steps[0] ?? -1);

function between(from: Row | undefined, to: Row | undefined, headingOf: (row: Row) => string): string {
  if (from === undefined || to === undefined) return '';
  const [first, last] = [headingOf(from), headingOf(to)];
  return first === last ? first : `${first} – ${last}`;
}

/** The latest step at an entry. Searches the whole path: its order differs slightly from that of the entries. */
function stepAt(path: readonly Step[], at: number): number | null {
  let found: number | null = null;
  let newest = -1;
  for (const [index, { seq }] of path.entries())
    if (seq <= at && seq > newest) {
      newest = seq;
      found = index;
    }
  return found;
}

const LINES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
const CELLS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Arrow keys move the focus between the buttons of a table: to the next row with a button in that column, or within the row. */
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
  // A folded row has a single cell; from there the focus continues in column A.
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

const COLUMNS = 3;

interface StepRowProps {
  readonly at: number;
  readonly row: Row;
  readonly paths: Pair<readonly Step[]>;
  readonly isFirst: boolean;
  readonly current: number | null;
  readonly onGo: StepTableProps['onGo'];
}

function StepRow({ at, row: { steps, equal }, paths, isFirst, current, onGo }: StepRowProps) {
  return (
    <tr class={`${equal ? '' : 'differs'}${isFirst ? ' first' : ''}`}>
      <th scope="row">
        {at + 1}
        {isFirst && <span class="first-mark"> differs</span>}
      </th>
      {([0, 1] as const).map((run) => {
        const index = steps[run];
        const step = index === null ? undefined : paths[run][index];
        if (step === undefined)
          return (
            <td key={LETTERS[run]} class="muted">
              –
            </td>
          );
        const { transition, seq } = step;
        const isHere = run === 0 && index === current;
        return (
          <td key={LETTERS[run]}>
            <button
              type="button"
              class={transition.machine === 'postChain' ? 'step plain' : 'step plain nested'}
              aria-current={isHere ? 'step' : undefined}
              title={`Entry ${seq} of ${LETTERS[run]}: ${transition.source} to ${transition.target.join(', ')}`}
              onClick={() => onGo(run, seq)}
            >
              {stateName(transition.source)} <Icon name="arrow-right" />{' '}
              {transition.target.map(stateName).join(', ') || 'stays'}
              {transition.guard !== null && (
                <span class="guard" title={transition.guard}>
                  {' '}
                  {humanizeGuard(transition.guard)}
                </span>
              )}
            </button>
          </td>
        );
      })}
    </tr>
  );
}
