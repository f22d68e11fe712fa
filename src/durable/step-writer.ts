import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';
import type { DurableActorSystem } from './actor-system.ts';
import { inRealWorld } from './determinism.ts';
import {
  type Attributes,
  type DurableEntry,
  type DurableEvent,
  isPartial,
  type RecordedMachine,
  type Runtime,
} from './entries.ts';
import { guardedWriter } from './journals/guarded-writer.ts';
import type { JournalWriter } from './journals/journal-store.ts';

export interface StepWriterOptions {
  readonly id: string;
  /** Whether this machine is the recorded one. If not, its keyframes would not be used. */
  readonly keepsKeyframes: boolean;
  /** The runtime of this process, if it is not the same as at the start. */
  readonly runtime?: Runtime | undefined;
  /** The machine of the actor, if it is not the same as at the start. */
  readonly machine?: RecordedMachine | undefined;
  /** Receives the entries from now on. */
  readonly onEntry?: ((entry: DurableEntry) => void) | undefined;
  readonly logger: (...args: unknown[]) => void;
}

/** The approximate length of an entry. A keyframe delays the next one by its own length in entries, so they at most double a journal. */
const ENTRY_CHARS = 100;

/** Writes the entries of each step to the journal, in order, and keyframes. After the first failure, it writes nothing more. */
export class StepWriter {
  readonly entries: DurableEntry[];
  /** Why nothing more is written: `journal_fenced`, `journal_failed`, or `internal` if a codec threw; null if everything could be. */
  failure: PostChainError | null = null;
  readonly #writer: JournalWriter;
  readonly #options: StepWriterOptions;
  readonly #onFailure: () => void;
  #unstored: DurableEntry[] = [];
  /** The number of entries until the next keyframe. */
  #untilKeyframe: number;
  #writing: Promise<void> | null = null;
  /** As JSON; empty if they are not known. */
  #attributes: string;

  constructor(
    entries: readonly DurableEntry[],
    writer: JournalWriter,
    options: StepWriterOptions,
    onFailure: () => void,
  ) {
    this.entries = [...entries];
    this.#writer = guardedWriter(writer);
    this.#options = options;
    this.#onFailure = onFailure;
    const last = entries.findLastIndex(({ type }) => type === 'keyframe');
    const every = (options.keepsKeyframes && writer.keyframeEvery) || Number.POSITIVE_INFINITY;
    const attributes = entries.findLast((entry) => entry.type === 'attributes')?.attributes;
    this.#attributes = attributes || !isPartial(entries) ? JSON.stringify(attributes ?? {}) : '';
    this.#untilKeyframe = every + entriesFor(entries[last]) - (entries.length - 1 - last);
  }

  /** Adds an entry, which the next `write` stores. */
  append(event: DurableEvent, atMs: number): void {
    const entry = { seq: (this.entries.at(-1)?.seq ?? -1) + 1, atMs, ...event } as DurableEntry;
    this.entries.push(entry);
    this.#untilKeyframe -= 1;
    this.#unstored.push(entry);
    const { onEntry } = this.#options;
    if (onEntry !== undefined) inRealWorld(() => this.#report(onEntry, entry));
  }

  /** An observer must not change what the machine does. */
  #report(onEntry: (entry: DurableEntry) => void, entry: DurableEntry): void {
    try {
      onEntry(entry);
    } catch (error) {
      this.#options.logger(`actor ${this.#options.id}: "onEntry" threw:`, error);
    }
  }

  /** Adds the attributes of the actor if they have changed. */
  addAttributes(attributes: Attributes, atMs: number): void {
    const text = JSON.stringify(attributes);
    if (text === this.#attributes) return;
    this.#attributes = text;
    this.append(attributesEvent(text), atMs);
  }

  /** Stores a keyframe, from which another process can continue. The larger it is, the later the next one follows. */
  addKeyframeIfDue(system: Pick<DurableActorSystem, 'isAtRest' | 'keyframe'>, atMs: number): void {
    if (this.#untilKeyframe > 0 || !system.isAtRest) return;
    const state = system.keyframe();
    const { machine, runtime } = this.#options;
    const keyframe =
      state && ({ type: 'keyframe', state, ...(machine && { machine }), ...(runtime && { runtime }) } as const);
    if (keyframe !== null) {
      this.append(keyframe, atMs);
      if (this.#attributes.length > 2) this.append(attributesEvent(this.#attributes), atMs);
    }
    this.#untilKeyframe = (this.#writer.keyframeEvery ?? 0) + entriesFor(keyframe);
    void this.write();
  }

  /** Stores the entries that are not stored, after the write in progress. Sets `failure` if that fails: a step that is not stored did not happen. `isLast`: `close` follows. */
  write(isLast = false): void | Promise<void> {
    if (this.#writing !== null) return this.#writing.then(() => this.write(isLast));
    const entries = this.#unstored;
    if (entries.length === 0) return;
    this.#unstored = [];
    const written = this.#writer.write(entries, isLast);
    if (written === undefined) return this.#checkWritten();
    this.#writing = written.then(() => {
      this.#writing = null;
      this.#checkWritten();
    });
    return this.#writing;
  }

  #checkWritten(): void {
    const { failure, isFenced } = this.#writer;
    if (failure !== null)
      this.#fail(new PostChainError(isFenced ? 'journal_fenced' : 'journal_failed', `${this.#name}: ${failure}`));
  }

  /** Drops the entries of the step in progress, because a codec threw. */
  dropStep(error: unknown): void {
    this.entries.length -= this.#unstored.length;
    this.#unstored = [];
    const thrown = error instanceof Error ? error.message : describeValue(error);
    const advice = 'The step was not stored. Fix the codec, then open the actor again.';
    this.#fail(new PostChainError('internal', `${this.#name}: a codec threw: ${thrown}. ${advice}`));
  }

  #fail(failure: PostChainError): void {
    this.failure = failure;
    this.#onFailure();
  }

  get #name(): string {
    return `actor ${this.#options.id}`;
  }

  /** Stores what is not stored, and releases the journal. */
  async close(): Promise<void> {
    const written = this.write(true);
    if (written !== undefined) await written;
    await this.#writer.close();
  }
}

const attributesEvent = (text: string): DurableEvent => ({ type: 'attributes', attributes: JSON.parse(text) });

/** How many entries take as much room as a keyframe. */
const entriesFor = (keyframe: DurableEvent | null | undefined): number =>
  keyframe?.type === 'keyframe' ? JSON.stringify(keyframe.state).length / ENTRY_CHARS : 0;
