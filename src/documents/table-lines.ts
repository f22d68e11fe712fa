export interface Cell {
  readonly text: string;
  readonly columns: number;
  readonly rows: number;
}

export interface Row {
  readonly line: number;
  /** Cells do not extend from one section of a table into the next. */
  readonly section: number;
  readonly isHeader: boolean;
  readonly cells: readonly Cell[];
}
