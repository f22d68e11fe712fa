import * as z from 'zod/mini';
import { EXTERNAL_EVENTS, type JournalEntry, type RunSummary } from '../../machines/contracts/journal.ts';
import { parseRunEntry, runSummary, tryRead, withPictures } from '../chain/journal/run-journal.ts';
import { stateSteps } from '../chain/journal/state-at.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import type { DurableEntry } from '../durable/entries.ts';
import type { ActorSummary, JournalEnds } from '../durable/journals/journal-store.ts';
import { type About, type JournalReader, MAX_WANTED_ENTRIES, RecordedJournal } from './recorded-journal.ts';
import { FiguresFold } from './run-figures.ts';
import { forkOf, frameWriter, limitationsOf, problemOf, type RecordedSource, runCharts } from './source.ts';
import type { InspectedStore, ReadNew } from './stored-runs.ts';
import { MAX_ENTRIES_WITH_STATES, type StateFrame } from './wire.ts';

const NO_SUMMARY: Omit<RunSummary, 'id'> = {
  request: '',
  startedAt: '',
  forkedFrom: null,
  status: 'damaged',
  waiting: null,
};

const startSchema = z.object({
  input: z.object({
    sessionId: z.nullable(z.string()),
    capabilities: z.array(z.object({ name: z.string(), client: z.optional(z.boolean()) })),
  }),
  product: z.object({ modelId: z.string(), fallbackModelIds: z.array(z.string()), host: z.unknown() }),
  startedAt: z.string(),
  forkedFrom: z.nullable(z.object({ clockStartMs: z.number(), forkedAt: z.optional(z.string()) })),
});

/** What the journal of a run records about its model and its tools. */
export interface RecordedModel {
  readonly runId: string;
  readonly modelId: string;
  /** The names of its tools, without those of its client. */
  readonly tools: readonly string[];
  /** What the program that started it has recorded; any JSON. */
  readonly host: unknown;
}

/** Why a run cannot be resumed here, and what to do; null if it can. What follows the first line is shown as code. */
export type BlockedText = (run: RecordedModel) => string | null;

/** A stored run. Its limitations depend on all its entries, so they are known only after it was opened. */
export class RecordedRun extends RecordedJournal<JournalEntry> implements RecordedSource {
  readonly charts = runCharts;
  /** With the status of a run that no process writes. */
  #idle = NO_SUMMARY;
  #fold: FiguresFold | null = null;
  #counted: { readonly readNew: ReadNew<JournalEntry>; fold: FiguresFold | null } | null = null;
  #isCounted = false;
  #lastSeq = 0;
  #blocked: string | null = null;
  readonly #blockedText: BlockedText | undefined;

  constructor(id: string, journals: InspectedStore, changed: () => void, blockedText?: BlockedText) {
    super(id, journals, changed);
    this.#blockedText = blockedText;
  }

  entries(): Promise<readonly JournalEntry[]> {
    return this.readAll().catch((error: unknown) => {
      this.setState({ damage: problemOf(error) });
      throw error;
    });
  }

  needsCount(): boolean {
    if (this.#isCounted) return false;
    return this.#idle.status === 'damaged' ? this.found.damage === null : this.#fold?.hasAnswer !== true;
  }

  wantsCount(): boolean {
    return !this.#isCounted && this.#fold?.isWhole === false && this.#lastSeq <= MAX_WANTED_ENTRIES;
  }

  async count(): Promise<void> {
    this.#isCounted = true;
    this.#counted ??= { readNew: this.entryReader(), fold: null };
    const now = this.#counted;
    try {
      await now.readNew((entry) => {
        if (entry.type === 'start') now.fold = new FiguresFold(entry, true);
        now.fold?.take(entry);
      });
      this.#fold = now.fold;
      this.changed();
      if (this.status() !== 'running') this.#counted = null;
    } catch (error) {
      this.#counted = null;
      this.setState({ damage: problemOf(error) });
    }
  }

  protected get idleStatus(): RunSummary['status'] {
    return this.#idle.status;
  }

  protected about(): About {
    const { request, startedAt, forkedFrom } = this.#idle;
    return {
      kind: 'run',
      title: request,
      startedAt,
      ...forkOf(forkedFrom),
      fidelity: this.found.limits,
      summary: this.#fold?.figures() ?? null,
      ...this.#wait(),
      ...(this.#blocked !== null && this.#fold?.hasAnswer !== true && { blocked: this.#blocked }),
      ...(this.status() !== 'running' && this.#lastSeq > 0 && { entries: this.#lastSeq + 1 }),
    };
  }

  /** What the run waits for. The last entry of a parked run has the start of the wait and the due time. */
  #wait(): Pick<About, 'waiting'> {
    const asked = this.#fold?.wait();
    const { waiting } = this.#idle;
    if (this.isWritten || waiting === null) return asked === undefined ? {} : { waiting: asked };
    const dueAtMs = waiting.due === null ? null : Date.parse(waiting.due);
    return { waiting: { events: [], approvals: [], ...asked, sinceMs: Date.parse(waiting.since), dueAtMs } };
  }

  protected compared(): unknown {
    return [this.#idle, this.status()];
  }

  protected parse(stored: DurableEntry): JournalEntry {
    return parseRunEntry(stored, this.id);
  }

  protected reader(): JournalReader<JournalEntry> {
    let followed = null as FiguresFold | null;
    let externalEvents = 0;
    return {
      format: 'run',
      lineOf: shownLine,
      take: (entry) => {
        if (EXTERNAL_EVENTS.has(entry.type)) externalEvents += 1;
        if (entry.type === 'start') {
          this.setState({ limits: limitationsOf(entry) });
          followed = new FiguresFold(entry, true);
        }
        followed?.take(entry);
      },
      wasRead: () => {
        if (!followed?.hasAnswer || (this.#fold?.hasAnswer && this.#fold.isWhole)) return;
        this.#fold = followed;
        this.changed();
      },
      maxEntriesWithStates: MAX_ENTRIES_WITH_STATES,
      states: framesOf,
      // A step is complete when the next one begins.
      stepsIn: () => externalEvents,
      limit: (sentence) => this.setState({ limits: [...this.found.limits, sentence] }),
      isOver: () => this.status() !== 'running',
    };
  }

  protected takeEnds(summary: ActorSummary, ends: JournalEnds, isNew: boolean): void {
    const first = tryRead(ends.first);
    const last = ends.last.map(tryRead);
    this.#lastSeq = ends.lastSeq;
    this.#idle = runSummary(summary);
    this.#isCounted &&= !isNew;
    const start = startSchema.safeParse(first).data;
    if (start !== undefined && (this.#fold === null || (!this.#fold.hasAnswer && this.#counted === null)))
      this.#fold = new FiguresFold(start, false);
    if (start !== undefined) {
      const tools = start.input.capabilities.flatMap(({ name, client }) => (client ? [] : [name]));
      this.#blocked = this.#blockedText?.({ runId: this.id, tools, ...start.product }) ?? null;
    }
    if (this.#fold !== this.#counted?.fold) for (const entry of [first, ...last]) this.#fold?.take(entry);
  }
}

/** Only an entry of this type has bytes. Inside a string, the quotes would be escaped. */
const ATTACHMENT = '"type":"attachment"';

/** Returns the stored form of an entry, with the bytes of pictures only. */
const shownLine = (json: string, entry: () => JournalEntry): string =>
  json.includes(ATTACHMENT) ? JSON.stringify(storedEntry(withPictures(entry()))) : json;

function* framesOf(entries: readonly JournalEntry[]): Generator<readonly StateFrame[], string | null> {
  const write = frameWriter();
  const steps = stateSteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    yield value.map(write);
  }
}
