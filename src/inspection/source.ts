import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { InspectedRun, RunCharts } from './wire.ts';

/**
 * Something that a page can open: a run under way, a recording, a system of XState actors in another program. Sources differ in where
 * their entries come from; all else is the same for them.
 */
export interface RunSource {
  /** How it stands now, as lists show it. A source tells its list whenever this is another one. */
  info(): InspectedRun;
  /** As they are now. */
  charts(): RunCharts;
  /**
   * Gives the sink all entries from this number on, in order, those to come among them, and then its end; nothing before this has returned,
   * and nothing once it is stopped. Each follower goes at its own pace. It never throws: what goes wrong is the problem of the end.
   */
  follow(from: number, sink: SourceSink): StopFollowing;
  /** Tells it something. Throws a PostChainError for what it cannot be told. Absent where it can be told nothing at all. */
  send?(event: unknown): void;
  /** All entries that there are now, for what is made of a whole run. Rejects for what cannot be read. Absent where nothing is made of them. */
  entries?(): Promise<readonly JournalEntry[]>;
}

/** Who follows a source. */
export interface SourceSink {
  /** Lines that follow on those before: each is an entry as JSON. Resolves when there is room for more; the source waits for that. */
  lines(lines: readonly string[]): Promise<void>;
  /** The charts are others from here on: only a system grows them. */
  charts(charts: RunCharts): void;
  /** Nothing more will come. `problem`: why the rest cannot be had. */
  end(problem: string | null): void;
}

export type StopFollowing = () => void;

/** A frame of lines has about so many characters: small enough to come at once, large enough to be few. */
export const FRAME_CHARS = 262_144;
