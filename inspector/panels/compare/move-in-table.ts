const LINES: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
const CELLS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Arrow keys go from button to button of a table: to the next line that has one in the same column, or to the next in the line. */
export function moveInTable(event: KeyboardEvent): void {
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
