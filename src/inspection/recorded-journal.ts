import { durableFormat } from '../durable/durable-format.ts';
import type { DurableEntry } from '../durable/entries.ts';
import { parsedEntry } from '../durable/journals/journal-lines.ts';
import {
  type ActorSummary,
  type JournalBounds,
  type JournalEnds,
  listedJournal,
} from '../durable/journals/journal-store.ts';
import { placeOf } from '../durable/journals/line-store.ts';
import { withPauses } from '../internal/async.ts';
import { parseJson } from '../internal/json-text.ts';
import { grouped } from '../internal/printable.ts';
import { changeSignal, FRAME_CHARS, problemOf, type SourceSink, type StopFollowing } from './source.ts';
import { type InspectedStore, type ReadNew, tailOf } from './stored-runs.ts';
import type { InspectedRun, SentLines, StateFrame } from './wire.ts';

/** Longer journals are read for the list only if they must be. */
export const MAX_WANTED_ENTRIES = 2_000;

/** How a page reads the entries of one kind of journal. */
export type JournalReader<Entry> = Omit<FollowedJournal<Entry>, 'id' | 'journals' | 'parse' | 'nextChange'>;

export type About = Omit<InspectedRun, 'runId' | 'live' | 'status' | 'integrity' | 'problem'>;

/** What reading all entries has shown. */
interface Findings {
  readonly damage: string | null;
  readonly integrity: string | null;
  /** What the record omits, one sentence each. */
  readonly limits: readonly string[];
}

/** A journal in a store, as a source that pages can open. Any process may be writing it. */
export abstract class RecordedJournal<Entry> {
  version: string | null = null;
  protected readonly id: string;
  protected readonly journals: InspectedStore;
  protected readonly changed: () => void;
  protected isWritten = false;
  protected found: Findings = { damage: null, integrity: null, limits: [] };
  /** For the followers that have read everything. */
  readonly #signal = changeSignal();

  /** `changed` is called when `info()` has changed, except by `update`. */
  constructor(id: string, journals: InspectedStore, changed: () => void) {
    this.id = id;
    this.journals = journals;
    this.changed = changed;
  }

  /** The status while no process writes the journal and no damage is known. */
  protected abstract get idleStatus(): InspectedRun['status'];
  protected abstract about(): About;
  /** Returns the JSON value whose changes `update` reports. */
  protected abstract compared(): unknown;
  /** Throws if the entry is damaged. */
  protected abstract parse(stored: DurableEntry): Entry;
  protected abstract reader(sink: SourceSink): JournalReader<Entry>;
  /** Takes the first and last entries of a new version. `summary` is that of a journal that no process writes. */
  protected abstract takeEnds(summary: ActorSummary, ends: JournalEnds, isNew: boolean): void;

  readonly #entryOf = (json: string, seq: number): Entry =>
    this.parse(parsedEntry(placeOf(this.id), parseJson(json), seq));

  protected status(): InspectedRun['status'] {
    if (this.found.damage !== null) return 'damaged';
    const { idleStatus } = this;
    return this.isWritten && ['interrupted', 'waiting', 'queued'].includes(idleStatus) ? 'running' : idleStatus;
  }

  info(): InspectedRun {
    const { damage, integrity } = this.found;
    return {
      runId: this.id,
      live: false,
      status: this.status(),
      ...this.about(),
      ...(integrity !== null && { integrity }),
      ...(damage !== null && { problem: damage }),
    };
  }

  protected setState(state: Partial<Findings>): void {
    const before = this.found;
    this.found = { ...before, ...state };
    if (JSON.stringify(this.found) !== JSON.stringify(before)) this.changed();
  }

  follow(from: number, sink: SourceSink): StopFollowing {
    let stopped = false;
    void this.#read(from, sink, () => stopped);
    return () => {
      stopped = true;
      this.#signal.wake();
    };
  }

  async #read(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    const { id, journals } = this;
    const reader = this.reader(sink);
    const journal = { ...reader, id, journals, parse: this.#entryOf, nextChange: this.#signal.next };
    const result = await followJournal(journal, from, sink, isStopped);
    if (result === null) return;
    const problem = result.problem?.replace(/^run /u, `${reader.format} `) ?? null;
    if (problem !== null) this.setState({ damage: problem });
    else if (journals.hasChecksums)
      this.setState({ integrity: `Intact: the checksums of all ${grouped(result.count)} entries are correct.` });
    sink.end(problem);
  }

  protected entryReader(): ReadNew<Entry> {
    const tail = tailOf(this.journals, this.id);
    let seq = 0;
    return async (take) => {
      for await (const piece of tail.read()) for (const json of piece) take(this.#entryOf(json, seq++));
    };
  }

  protected async readAll(): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    await this.entryReader()((entry) => entries.push(entry));
    return entries;
  }

  update(run: JournalBounds): boolean {
    const before = JSON.stringify(this.compared());
    const isNew = run.version !== this.version;
    this.version = run.version;
    this.isWritten = run.isWritten;
    if (isNew) this.found = { ...this.found, damage: null, integrity: null };
    if (run.ends !== null)
      this.takeEnds(durableFormat.summarize(listedJournal({ ...run, isWritten: false })), run.ends, isNew);
    const hasChanged = JSON.stringify(this.compared()) !== before;
    if (isNew || hasChanged) this.#signal.wake();
    return hasChanged;
  }
}

/** How long a replay may keep the event loop busy. */
const TURN_MS = 12;

type Steps = Generator<readonly StateFrame[], string | null>;

/** A journal in a store that grows, and how its page reads it. */
interface FollowedJournal<Entry> {
  readonly id: string;
  readonly journals: InspectedStore;
  readonly format: NonNullable<SentLines['format']>;
  /** Throws if the entry is damaged. */
  parse(json: string, seq: number): Entry;
  /** Returns the line to send for an entry. `entry` parses it. */
  lineOf(json: string, entry: () => Entry): string;
  take(entry: Entry): void;
  /** Called when all entries so far have been read. */
  wasRead?(): void;
  /** States of a journal with more entries are sent only on request. */
  readonly maxEntriesWithStates: number;
  /** Yields frames of the states after its steps; null if they are unknown. */
  states(entries: readonly Entry[], sink: SourceSink): Steps | null;
  /** How many steps the entries contain. */
  stepsIn(entries: readonly Entry[]): number;
  /** Called with the reason if the states are incomplete. */
  limit(sentence: string): void;
  isOver(): boolean;
  nextChange(): Promise<void>;
}

/**
 * Sends a journal as it grows, piece by piece. Its lines are sent as stored, before their entries are parsed, because parsing takes most of
 * the time, and the page checks the entries itself. Resolves to the number of entries and why the rest, if any, cannot be read; null if the
 * reader has stopped.
 */
async function followJournal<Entry>(
  journal: FollowedJournal<Entry>,
  from: number,
  sink: SourceSink,
  isStopped: () => boolean,
): Promise<{ readonly count: number; readonly problem: string | null } | null> {
  const { format } = journal;
  const tail = tailOf(journal.journals, journal.id);
  const entries: Entry[] = [];
  const states = stateFeed(journal, entries, sink);
  const unparsed: string[] = [];
  let count = 0;
  let parsed = 0;
  let sendsStates = sink.needsStates;
  let problem: string | null = null;

  /** Texts are removed when they have been parsed. */
  function* parseAll(): Generator<void, void> {
    for (const json of unparsed.splice(0)) {
      if (isStopped()) return;
      const entry = journal.parse(json, parsed);
      parsed += 1;
      // Only the replay reads them again.
      if (sendsStates) entries.push(entry);
      journal.take(entry);
      yield;
    }
  }

  async function sendLines(): Promise<void> {
    let frame: string[] = [];
    let chars = 0;
    try {
      for await (const read of tail.read()) {
        if (isStopped()) return;
        if (chars >= FRAME_CHARS) {
          await sink.lines(frame, { more: true, format });
          if (isStopped()) return;
          frame = [];
          chars = 0;
        }
        for (const one of read) {
          unparsed.push(one);
          count += 1;
          if (count <= from) continue;
          const line = journal.lineOf(one, () => journal.parse(one, count - 1));
          frame.push(line);
          chars += line.length;
        }
      }
    } catch (error) {
      problem = problemOf(error);
    }
    if (!isStopped() && frame.length > 0) await sink.lines(frame, { more: false, format });
  }

  for (let isOver = false; !isOver && !isStopped(); ) {
    // Checked first, because a process may write its last entries and end in between.
    isOver = journal.isOver();
    const changedAgain = journal.nextChange();
    await sendLines();
    // Decided once: a page must not see the states of only a part of a run that grows.
    sendsStates ??= count <= journal.maxEntriesWithStates;
    try {
      await withPauses(parseAll());
    } catch (error) {
      problem = problemOf(error);
    }
    isOver ||= problem !== null;
    journal.wasRead?.();
    const limit = problem === null && sendsStates ? await states.send(isOver, isStopped) : null;
    if (limit !== null) journal.limit(limit);
    if (!isOver && !isStopped()) await changedAgain;
  }
  return isStopped() ? null : { count: parsed, problem };
}

/** Computes the states of a journal as its list of entries grows, while other work runs in between. */
function stateFeed<Entry>(journal: FollowedJournal<Entry>, entries: readonly Entry[], sink: SourceSink) {
  let steps: Steps | null = null;
  let stepped = 0;
  let sent = 0;
  let isOver = false;

  /** Sends the states after the entries so far. Returns why others are unknown, or null. A journal that cannot be replayed has none. */
  async function send(isLast: boolean, isStopped: () => boolean): Promise<string | null> {
    let frames: string[] = [];
    let startedAtMs = performance.now();
    let problem: string | null = null;
    async function pause(): Promise<void> {
      await sink.states(sent, frames);
      sent += frames.length;
      frames = [];
      await new Promise((resolve) => setImmediate(resolve));
      startedAtMs = performance.now();
    }
    try {
      steps ??= journal.states(entries, sink);
      const count = journal.stepsIn(entries);
      // The step after the last one would end the replay.
      while (steps !== null && !isOver && !isStopped() && (isLast || stepped < count)) {
        const step = steps.next();
        stepped += 1;
        if (step.done) {
          problem = step.value;
          isOver = true;
        } else frames.push(...step.value.map((frame) => JSON.stringify(frame)));
        if (performance.now() - startedAtMs > TURN_MS) await pause();
      }
    } catch (error) {
      isOver = true;
      problem = `The states are unknown: ${problemOf(error)}`;
    }
    if (!isStopped() && frames.length > 0) await pause();
    return problem;
  }

  return { send };
}
