import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import { EXTERNAL_EVENTS, type JournalEntry, type RunSummary } from '../../machines/contracts/journal.ts';
import { isStartOfRun, parseRunEntry, runSummary, tryRead, withoutBytes } from '../chain/journal/run-journal.ts';
import { stateSteps } from '../chain/journal/state-at.ts';
import { storedEntry } from '../chain/journal/stored-entries.ts';
import { durableFormat } from '../durable/durable-format.ts';
import { parsedEntry } from '../durable/journals/journal-lines.ts';
import { type JournalBounds, type JournalTail, listedJournal } from '../durable/journals/journal-store.ts';
import { placeOf, repeat } from '../durable/journals/line-store.ts';
import { parseJson } from '../internal/json-text.ts';
import { grouped } from '../internal/printable.ts';
import { followJournal } from './journal-feed.ts';
import { FiguresFold } from './run-figures.ts';
import {
  changeSignal,
  forkOf,
  frameWriter,
  limitationsOf,
  problemOf,
  type RecordedSource,
  type RunSource,
  runCharts,
  type SourceSink,
} from './source.ts';
import { boundsOf, changesOf, type InspectedStore, tailOf } from './stored-runs.ts';
import { recordedActor } from './systems/recorded-actor.ts';
import type { ReplayHost } from './systems/recorded-states.ts';
import type { StateFrame } from './wire.ts';

export interface Recordings {
  all(): Iterable<RunSource>;
  find(runId: string): RunSource | undefined;
  /** How many runs the first reading has found but not read yet. */
  readonly unread: number;
  /** Reads the given runs again, by default all. If the store cannot be read, the old list stays. */
  refresh(runIds?: readonly string[]): Promise<void>;
  /** Deletes a run that no process is writing. */
  remove(runId: string): Promise<void>;
  /** Keeps the list up to date. Returns a function that stops it. */
  watch(): () => void;
}

/** How often runs in progress are checked: their process may die. */
const CHECK_MS = 1_000;

/**
 * Returns the runs and durable actors in a store and in the stores of `hosts`. `changed` receives the id of each that is new, has changed or
 * is gone; `allRead` is called whenever a store has been read for the first time.
 */
export function recordingsOf(
  journals: InspectedStore | null,
  changed: (runId: string) => void,
  allRead: () => void,
  hosts: readonly ReplayHost[] = [],
): Recordings {
  const stores = new Set([...(journals === null ? [] : [journals]), ...hosts.map((host) => host.journals)]);
  const each = [...stores].map((store) => recordingsIn(store, changed, allRead, hosts));
  const holding = (runId: string): Recordings | undefined => each.find(({ find }) => find(runId) !== undefined);
  return {
    all: () => each.flatMap(({ all }) => [...all()]),
    find: (runId) => holding(runId)?.find(runId),
    get unread() {
      return each.reduce((sum, { unread }) => sum + unread, 0);
    },
    async refresh(runIds) {
      await Promise.all(each.map(({ refresh }) => refresh(runIds)));
    },
    async remove(runId) {
      const recordings = holding(runId) ?? each[0];
      if (recordings === undefined) throw cannotDelete();
      await recordings.remove(runId);
    },
    watch() {
      const stops = each.map(({ watch }) => watch());
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

function recordingsIn(
  journals: InspectedStore,
  changed: (runId: string) => void,
  allRead: () => void,
  hosts: readonly ReplayHost[],
): Recordings {
  const known = new Map<string, RecordedSource>();
  const counter = createCounter();
  let current = Promise.resolve();
  let next: Promise<void> | null = null;
  let isFirst = true;
  let unread = 0;

  /** Journals that have not changed since they were read come without `ends`. A new journal of the other kind may reuse an id. */
  function recordingOf(run: JournalBounds): RecordedSource {
    const { id, ends } = run;
    const before = known.get(id);
    const isActor = durableFormat.summarize(listedJournal(run)).machine !== null && !isStartOfRun(ends?.first);
    const kind = isActor ? 'system' : 'run';
    if (before !== undefined && (ends === null || before.info().kind === kind)) return before;
    const source = kind === 'run' ? recordedRun : recordedActor;
    return source(id, journals, () => changed(id), hosts);
  }

  async function read(runIds?: readonly string[]): Promise<void> {
    const missing = new Set(runIds ?? known.keys());
    try {
      for await (const run of boundsOf(journals, {
        ids: runIds,
        isKnown: (id, version) => known.get(id)?.version === version,
        onFound: (count) => {
          unread = isFirst ? count : 0;
        },
      })) {
        unread = Math.max(0, unread - 1);
        missing.delete(run.id);
        const recording = recordingOf(run);
        known.set(run.id, recording);
        if (recording.update(run)) changed(run.id);
        // Without `tail`, each would be read from the start each time.
        if (journals.tail && (recording.needsCount() || (!isFirst && recording.wantsCount()))) counter.add(recording);
      }
      for (const runId of missing) {
        if (known.delete(runId)) changed(runId);
      }
    } catch {
      // The next refresh tries again.
    }
    if (runIds !== undefined || !isFirst) return;
    isFirst = false;
    unread = 0;
    allRead();
    if (journals.tail)
      for (const recording of newest(known.values())) if (recording.wantsCount()) counter.add(recording);
  }

  function refresh(runIds?: readonly string[]): Promise<void> {
    if (runIds !== undefined) {
      current = current.then(() => read(runIds));
      return current;
    }
    // A running refresh may have missed a change, so callers share the next one.
    next ??= current = current.then(() => {
      next = null;
      return read();
    });
    return next;
  }

  return {
    all: () => known.values(),
    find: (runId) => known.get(runId),
    get unread() {
      return unread;
    },
    refresh,
    async remove(runId) {
      if (journals.delete === undefined) throw cannotDelete();
      await journals.delete(runId);
      await refresh([runId]);
    },
    watch() {
      const stopWatching = changesOf(journals, (runIds) => void refresh(runIds ?? undefined));
      const stopChecking = repeat(() => {
        const running = [...known].flatMap(([runId, { info }]) => (info().status === 'running' ? [runId] : []));
        if (running.length > 0) void refresh(running);
      }, CHECK_MS);
      return () => {
        stopWatching();
        stopChecking();
      };
    },
  };
}

const cannotDelete = (): PostChainError =>
  new PostChainError('invalid_option', 'This journal store cannot delete runs.');

/** How many runs may wait to be read for their figures. */
const MAX_COUNTED = 200;

/** The newest runs are read in full, to find damage between their first and their last line. */
const newest = (runs: Iterable<RecordedSource>): readonly RecordedSource[] =>
  [...runs]
    .map((run) => ({ run, startedAt: run.info().startedAt }))
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1))
    .slice(0, MAX_COUNTED)
    .map(({ run }) => run);

/** Longer runs are read only if they must be. */
const MAX_WANTED_ENTRIES = 2_000;

/** Reads the runs whose last line does not contain their figures, or is damaged, one at a time. */
function createCounter() {
  const waiting = new Set<RecordedSource>();
  let isBusy = false;
  async function work(): Promise<void> {
    if (isBusy) return;
    isBusy = true;
    for (const run of waiting) {
      waiting.delete(run);
      await run.count();
    }
    isBusy = false;
  }
  return {
    add(run: RecordedSource): void {
      if (waiting.size < MAX_COUNTED) waiting.add(run);
      void work();
    },
  };
}

const NO_SUMMARY: Omit<RunSummary, 'id'> = {
  request: '',
  startedAt: '',
  forkedFrom: null,
  status: 'damaged',
  waiting: null,
};

const isResumable = (status: RunSummary['status']): boolean => status === 'interrupted' || status === 'waiting';

const startSchema = z.object({
  input: z.object({ sessionId: z.nullable(z.string()) }),
  product: z.object({ modelId: z.string(), fallbackModelIds: z.array(z.string()) }),
  startedAt: z.string(),
  forkedFrom: z.nullable(z.object({ clockStartMs: z.number() })),
});

/** Returns a stored run as a source. Its limitations depend on all its entries, so they are known only after it was opened. */
function recordedRun(runId: string, journals: InspectedStore, changed: () => void): RecordedSource {
  const parse = (json: string, seq: number) => parseRunEntry(parsedEntry(placeOf(runId), parseJson(json), seq), runId);
  let version: string | null = null;
  /** With the status of a run that no process writes. */
  let idle = NO_SUMMARY;
  let isWritten = false;
  let damage: string | null = null;
  let integrity: string | null = null;
  let start: z.infer<typeof startSchema> | null = null;
  let fold: FiguresFold | null = null;
  let counted: { readonly tail: JournalTail; seq: number; fold: FiguresFold | null } | null = null;
  let isCounted = false;
  let lastSeq = 0;
  let fidelity: readonly string[] = [];
  /** For the followers that have read everything. */
  const { next, wake } = changeSignal();

  function setFidelity(sentences: readonly string[]): void {
    if (sentences.join() === fidelity.join()) return;
    fidelity = sentences;
    changed();
  }

  const status = (): RunSummary['status'] => {
    if (damage !== null) return 'damaged';
    return isResumable(idle.status) && isWritten ? 'running' : idle.status;
  };

  async function read(from: number, sink: SourceSink, isStopped: () => boolean): Promise<void> {
    let followed = null as FiguresFold | null;
    let externalEvents = 0;
    const result = await followJournal<JournalEntry>(
      {
        id: runId,
        journals,
        format: 'run',
        parse,
        lineOf: shownLine,
        take(entry) {
          if (EXTERNAL_EVENTS.has(entry.type)) externalEvents += 1;
          if (entry.type === 'start') {
            setFidelity(limitationsOf(entry));
            followed = new FiguresFold(entry, true);
          }
          followed?.take(entry);
        },
        wasRead() {
          if (!followed?.hasAnswer || (fold?.hasAnswer && fold.isWhole)) return;
          fold = followed;
          changed();
        },
        states: framesOf,
        // A step is complete when the next one begins.
        stepsIn: () => externalEvents,
        limit: (sentence) => setFidelity([...fidelity, sentence]),
        isOver: () => status() !== 'running',
        nextChange: next,
      },
      from,
      sink,
      isStopped,
    );
    if (result === null) return;
    const { count, problem } = result;
    if (problem === null) setChecked(count);
    else setDamage(problem);
    sink.end(problem);
  }

  function setChecked(count: number): void {
    const sentence = `Intact: the checksums of all ${grouped(count)} entries are correct.`;
    if (!journals.hasChecksums || integrity === sentence) return;
    integrity = sentence;
    changed();
  }

  function setDamage(problem: string): void {
    if (damage === problem) return;
    damage = problem;
    changed();
  }

  return {
    get version() {
      return version;
    },
    info: () => ({
      runId,
      kind: 'run',
      title: idle.request,
      startedAt: idle.startedAt,
      ...forkOf(idle.forkedFrom),
      status: status(),
      live: false,
      fidelity,
      summary: fold?.figures() ?? null,
      ...(status() !== 'running' && lastSeq > 0 && { entries: lastSeq + 1 }),
      ...(integrity !== null && { integrity }),
      ...(damage !== null && { problem: damage }),
    }),
    charts: runCharts,
    follow(from, sink) {
      let stopped = false;
      void read(from, sink, () => stopped);
      return () => {
        stopped = true;
        wake();
      };
    },
    async entries() {
      try {
        const entries: JournalEntry[] = [];
        for await (const piece of tailOf(journals, runId).read())
          for (const json of piece) entries.push(parse(json, entries.length));
        return entries;
      } catch (error) {
        setDamage(problemOf(error));
        throw error;
      }
    },
    update(run) {
      const before = JSON.stringify([idle, status()]);
      const isNew = run.version !== version;
      version = run.version;
      isWritten = run.isWritten;
      if (isNew) [damage, integrity] = [null, null];
      if (run.ends !== null) {
        const first = tryRead(run.ends.first);
        const last = run.ends.last.map(tryRead);
        ({ lastSeq } = run.ends);
        idle = runSummary(durableFormat.summarize(listedJournal({ ...run, isWritten: false })));
        start = startSchema.safeParse(first).data ?? null;
        isCounted &&= !isNew;
        if (start !== null && (fold === null || (!fold.hasAnswer && counted === null)))
          fold = new FiguresFold(start, false);
        if (fold !== counted?.fold) for (const entry of [first, ...last]) fold?.take(entry);
      }
      const hasChanged = JSON.stringify([idle, status()]) !== before;
      if (isNew || hasChanged) wake();
      return hasChanged;
    },
    needsCount: () => !isCounted && (idle.status === 'damaged' ? damage === null : fold?.hasAnswer !== true),
    wantsCount: () => !isCounted && fold?.isWhole === false && lastSeq <= MAX_WANTED_ENTRIES,
    async count() {
      isCounted = true;
      counted ??= { tail: tailOf(journals, runId), seq: 0, fold: null };
      const now = counted;
      try {
        for await (const read of now.tail.read())
          for (const json of read) {
            const entry = parse(json, now.seq);
            now.seq += 1;
            if (entry.type === 'start') now.fold = new FiguresFold(entry, true);
            now.fold?.take(entry);
          }
        fold = now.fold;
        changed();
        if (status() !== 'running') counted = null;
      } catch (error) {
        counted = null;
        setDamage(problemOf(error));
      }
    },
  };
}

/** Only an entry of this type has bytes. Inside a string, the quotes would be escaped. */
const ATTACHMENT = '"type":"attachment"';

/** Returns the stored form of an entry, without the bytes of an attachment. */
const shownLine = (json: string, entry: () => JournalEntry): string =>
  json.includes(ATTACHMENT) ? JSON.stringify(storedEntry(withoutBytes(entry()))) : json;

function* framesOf(entries: readonly JournalEntry[]): Generator<readonly StateFrame[], string | null> {
  const write = frameWriter();
  const steps = stateSteps(entries);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    yield value.map(write);
  }
}
