import type { InspectedRun, RunCharts, SendableEvent } from '../../src/inspection/wire.ts';

/** How the page stands to what it gets its runs from. */
export type Connection = 'connecting' | 'open' | 'lost' | 'file';

/** What a page hears. */
export interface PageListener {
  connection(state: Connection): void;
  events(events: readonly SendableEvent[]): void;
  runs(runs: readonly InspectedRun[], chosen: string | null): void;
  charts(runId: string, charts: RunCharts): void;
  entries(runId: string, from: number, lines: readonly string[]): void;
  end(runId: string, problem: string | null): void;
}

/** Where a page gets its runs from: a server, or the file that it is. */
export interface PageSource {
  /** Begins to tell; once. `countOf` gives how many entries of a run are there, so that a lost connection goes on where it was. */
  start(ear: PageListener, countOf: (runId: string) => number): void;
  open(runId: string): void;
  close(runId: string): void;
  /** Tells a live run something. Gives what is wrong with it, in one line; null where nothing is. Never rejects. */
  send(runId: string, event: unknown): Promise<string | null>;
  /** A Vitest test of a run. Never rejects. */
  test(runId: string): Promise<{ readonly text: string; readonly problem: string | null }>;
}
