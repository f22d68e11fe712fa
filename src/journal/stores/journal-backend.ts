/** Where the lines of one journal go. */
export interface LineSink {
  /** Throws where the line cannot be written. */
  append(line: string): void;
  close(): void;
}

/** The first and the last line of a journal, and whether a process writes it. */
export interface JournalBounds {
  readonly runId: string;
  readonly first: string;
  readonly last: string;
  readonly isWritten: boolean;
}

/** What a store keeps its journals on: lines by run, one writer at a time. Methods throw or reject with `invalid_journal`. */
export interface JournalBackend {
  create(runId: string): LineSink;
  /** Without a torn last one. */
  lines(runId: string): AsyncIterable<string> | Iterable<string>;
  /** To write on; a torn last line is dropped. */
  reopen(runId: string): LineSink;
  spines(): Promise<readonly JournalBounds[]> | readonly JournalBounds[];
}
