import type * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import {
  type ClientEvent,
  type RefusedAnswer,
  type RefusedDirection,
  refusalText,
} from '../../machines/contracts/events.ts';
import type { JournalEntry, RunSummary } from '../../machines/contracts/journal.ts';
import type { PostChain } from '../chain/create-post-chain.ts';
import { type JournalStore, runStartOf } from '../chain/journal/journal-format.ts';
import { RUN_DESCRIPTION, type Run } from '../chain/runtime/run.ts';
import type { RunOptions } from '../chain/runtime/run-options.ts';
import type { Clock } from '../durable/clock.ts';
import { entriesOf, type ManagedJournals } from '../durable/journals/journal-store.ts';
import { createFeeds, type Updates } from './feeds.ts';
import { HttpError, unknownRun } from './http-error.ts';
import { type Owner, ownId, sessionIdOf } from './owners.ts';
import { emptyView, nextView, type RunView } from './run-view.ts';
import { updatesOf } from './updates.ts';
import type { UsageLimits } from './usage-limits.ts';

/** A journal store with `follow`, such as any store of PostChain. */
type FollowableJournals = JournalStore & Pick<ManagedJournals<JournalEntry, RunSummary>, 'follow'>;

/** A client's request for a run. */
export interface ClientRequest
  extends Pick<RunOptions, 'request' | 'history' | 'instructions' | 'mode' | 'clientTools' | 'answer'> {
  /** JSON data that a protocol stores with the run. */
  readonly host?: Readonly<Record<string, z.core.util.JSONType>>;
  /** The client's name for the session. Owners do not share sessions, even if they use the same name. */
  readonly session?: string | undefined;
  /** The client's name for the conversation, to find its runs by. Unlike a session, it adds no earlier turns. */
  readonly conversation?: string | undefined;
  /** A repeated request with the same key returns the run of the first one. */
  readonly idempotencyKey?: string | undefined;
}

/** The runs of a server. Each is visible only to its owner; to others, it does not exist. */
export interface RunService {
  /** Starts a run, or returns the run that was started with the same idempotency key. */
  start(owner: Owner, request: ClientRequest): Promise<{ readonly runId: string; readonly isNew: boolean }>;
  /** Yields the updates of a run from the beginning until its answer. Ends early when the signal aborts. */
  updates(owner: Owner, runId: string, signal: AbortSignal): Promise<Updates>;
  /** Returns the run so far. */
  view(owner: Owner, runId: string): Promise<RunView>;
  /** Sends an event to a run, and resolves when it is stored. Rejects with `answer_refused` if it has no effect. */
  send(owner: Owner, runId: string, event: ClientEvent): Promise<void>;
  /** Returns runs of the owner, newest first. */
  list(owner: Owner, options: ListRunsOptions): Promise<readonly RunSummary[]>;
  /** Deletes a run that has ended. Rejects with an `HttpError` for any other, and if the store of the chain cannot delete journals. */
  delete(owner: Owner, runId: string): Promise<void>;
  /** Returns the journal of a run. */
  journal(owner: Owner, runId: string): Promise<readonly JournalEntry[]>;
}

interface ListRunsOptions {
  readonly limit: number;
  /** Only runs that started before this time, in ISO 8601. */
  readonly before?: string | undefined;
  /** Only runs of this conversation. */
  readonly conversation?: string | undefined;
}

/** What the server stores with a run and never changes: its `owner`, and its `conversation` if it has one. */
type RunLabels = NonNullable<RunOptions['host']>;

/** The number of runs whose labels are cached. */
const MAX_REMEMBERED = 10_000;
/** The minimum number of runs to list at a time, so that a search for a few runs does not list them one by one. */
const LEAST_PAGE = 100;

/** OpenAI's SDKs would retry after status 409. */
export const FINAL = { 'x-should-retry': 'false' };

interface ServiceOptions {
  readonly chain: PostChain;
  readonly clock: Clock;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
  readonly onRun: (run: Run) => void;
}

/** Throws `invalid_option` for a chain without journals that can be followed. */
export function createRunService({ chain, clock, usage, eventsPerRun, onRun }: ServiceOptions): RunService {
  const journals = followableOf(chain);
  const feeds = createFeeds((runId, options) => journals.follow(runId, options));
  const labels = new Map<string, RunLabels>();
  const starts = createTurns();
  const sends = createTurns();
  /** The runs in the memory of this process, by id. */
  const inMemory = new Set<string>();

  function remember(runId: string, known: RunLabels): RunLabels {
    if (labels.size >= MAX_REMEMBERED) labels.delete(labels.keys().next().value as string);
    labels.set(runId, known);
    return known;
  }

  async function labelsOf(runId: string): Promise<RunLabels> {
    const known = labels.get(runId);
    if (known !== undefined) return known;
    const start = await firstEntry(journals, runId);
    return start === null ? {} : remember(runId, runStartOf([start]).product.host ?? {});
  }

  /** Yields the updates. A run that cannot be read may have been deleted, so an error drops its cached labels. */
  async function* forgetful(runId: string, updates: Updates) {
    try {
      yield* updates;
    } catch (error) {
      labels.delete(runId);
      throw error;
    }
  }

  async function requireOwn(owner: Owner, runId: string): Promise<void> {
    if ((await labelsOf(runId))['owner'] !== owner) throw unknownRun();
  }

  /** Counts a run of this process until it leaves memory, and then its cost above `spent`, which was counted before. */
  function track(run: Run, owner: Owner, spent = 0): void {
    if (inMemory.has(run.id)) return;
    inMemory.add(run.id);
    onRun(run);
    parkWhenWaiting(run, clock);
    const end = usage.startRun(owner);
    const leave = (cost: number): void => {
      inMemory.delete(run.id);
      end(cost);
    };
    run.settled.then(
      (answer) => leave((answer?.metadata.cost?.amount ?? costSoFar(run)) - spent),
      () => leave(0),
    );
  }

  /** Resolves when a run is stored. From then on, it survives this process, and every request finds it. */
  async function stored(run: Run): Promise<void> {
    // Reading its journal opens the run, which would otherwise wait for its turn.
    void run.entries;
    const leaving = new AbortController();
    const updates = feeds.updates(run.id, leaving.signal);
    try {
      await Promise.race([updates.next(), run.settled]);
    } finally {
      leaving.abort();
      void updates.return().catch(() => {});
    }
  }

  /** Returns whether a run was started by the request with this digest. Throws an `HttpError` 422 if another request started it. */
  async function isStarted({ runId, digest }: { readonly runId: string; readonly digest: string }): Promise<boolean> {
    const start = await firstEntry(journals, runId);
    if (start === null) return false;
    if (runStartOf([start]).product.host?.['request'] === digest) return true;
    const message = 'Idempotency-Key: this key was used for a different request. Use a new key for each request.';
    throw new HttpError(422, 'idempotency_key_reused', message);
  }

  async function begin(owner: Owner, asked: ClientRequest, runId?: string): Promise<{ runId: string; isNew: boolean }> {
    const { session, conversation, idempotencyKey, host, ...options } = asked;
    const key = runId === undefined ? null : { runId, digest: await ownId(JSON.stringify(asked)) };
    if (key !== null && (await isStarted(key))) return { runId: key.runId, isNew: false };
    const sessionId = session === undefined ? undefined : await sessionIdOf(owner, session);
    // Nothing may be awaited between this and `track`, or concurrent requests could start more runs than allowed.
    usage.requireRun(owner);
    const own: RunLabels = { owner, ...(conversation !== undefined && { conversation }) };
    const run = unlessBusy(() =>
      chain.run({
        ...options,
        ...(key !== null && { runId: key.runId }),
        ...(sessionId !== undefined && { sessionId }),
        host: { ...host, ...own, ...(key !== null && { request: key.digest }) },
      }),
    );
    remember(run.id, own);
    track(run, owner);
    await stored(run);
    // Another process may have started the run at the same time.
    if (key !== null) await isStarted(key);
    return { runId: run.id, isNew: true };
  }

  async function send(owner: Owner, runId: string, event: ClientEvent): Promise<void> {
    const entries = await ownEntries(owner, runId);
    if (event.type === 'approval.given' && event.decision === 'respond' && !isOfClient(event.questionId, entries))
      throw refusedAnswer("only a call of one of the client's tools can be answered with a result");
    // A run can always be canceled, because it is over then.
    if (event.type !== 'run.cancelled' && entries.filter(({ type }) => type === 'delivery').length >= eventsPerRun)
      throw new HttpError(429, 'too_many_events', `This run has reached its limit of ${eventsPerRun} client events.`);
    requireRunning(entries);
    usage.requireOpen();
    // It continues, unless the event ends it.
    const isParked = !inMemory.has(runId);
    if (isParked && event.type !== 'run.cancelled' && event.type !== 'run.finished') usage.requireRun(owner);
    // Counts it until `track` does.
    const opened = isParked ? usage.startRun(owner) : null;
    const run = await chain
      .send(runId, event)
      .catch(busy)
      .finally(() => opened?.(0));
    track(run, owner, costSoFar(run));
    const received = outcomesOf(run.entries, event).slice(outcomesOf(entries, event).length);
    // The run has ended in the meantime.
    if (received.length === 0) requireRunning(run.entries);
    // If an equal event of another request had an effect, so did this one.
    const refused = received.includes(null) ? null : received[0];
    if (refused) throw refusedAnswer(refusalText(refused));
  }

  return {
    async start(owner, request) {
      const { idempotencyKey } = request;
      if (idempotencyKey === undefined) return begin(owner, request);
      const runId = await ownId('run', owner, idempotencyKey);
      // A second request with the same key waits for the first one, and then finds its run.
      return starts(runId, () => begin(owner, request, runId));
    },
    async updates(owner, runId, signal) {
      await requireOwn(owner, runId);
      return forgetful(runId, feeds.updates(runId, signal));
    },
    async view(owner, runId) {
      return [...updatesOf(await ownEntries(owner, runId))].reduce(nextView, emptyView);
    },
    // One event at a time, so that several requests do not exceed the limit together.
    send: (owner, runId, event) => sends(runId, () => send(owner, runId, event)),
    async list(owner, { limit, before, conversation }) {
      const found: RunSummary[] = [];
      const size = Math.max(limit, LEAST_PAGE);
      let page = await journals.list({ limit: size, ...(before !== undefined && { before: { startedAt: before } }) });
      while (page.length > 0) {
        for (const summary of page) {
          const known = await labelsOf(summary.runId);
          const isOfConversation = conversation === undefined || known['conversation'] === conversation;
          if (known['owner'] === owner && isOfConversation) found.push(summary);
          if (found.length === limit) return found;
        }
        const last = page.at(-1);
        page = last === undefined ? [] : await journals.list({ limit: size, before: last });
      }
      return found;
    },
    async delete(owner, runId) {
      const entries = await ownEntries(owner, runId);
      if (!entries.some(({ type }) => type === 'answer'))
        throw new HttpError(409, 'run_active', 'The run has not ended. Cancel it before you delete it.', FINAL);
      if (journals.delete === undefined)
        throw new HttpError(501, 'not_supported', 'The journal store of this server cannot delete runs.', FINAL);
      await journals.delete(runId);
      labels.delete(runId);
    },
    journal: ownEntries,
  };

  async function ownEntries(owner: Owner, runId: string): Promise<readonly JournalEntry[]> {
    await requireOwn(owner, runId);
    return entriesOf(journals.read(runId)).catch(async (error: unknown) => {
      // The run may have been deleted after its labels were read.
      throw (await firstEntry(journals, runId)) === null ? unknownRun() : error;
    });
  }
}

/** Returns the journals of a chain, whose runs a server reads and continues. Throws `invalid_option`. */
function followableOf({ options: { journals } }: PostChain): FollowableJournals {
  if (typeof Object(journals).follow === 'function') return journals as FollowableJournals;
  throw new PostChainError(
    'invalid_option',
    `chain: expected a chain with a journal store, for example createPostChain({ journals: memoryJournals() }); received ${journals === undefined ? 'a chain without journals' : 'a store without the method "follow"'}.`,
  );
}

/** How long a run waits for its user before the server parks it, in milliseconds. */
const PARK_AFTER_MS = 1_000;

/** Parks a run each time that it waits for its user, so that unanswered questions use up neither memory nor limits. */
function parkWhenWaiting({ ref: actor, park, settled }: Run, clock: Clock): void {
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const check = (): void => {
    clock.clearTimeout(timer);
    if (RUN_DESCRIPTION.describeWait(actor.getSnapshot()) !== null)
      timer = clock.setTimeout(() => void park(), PARK_AFTER_MS);
  };
  const { unsubscribe } = actor.subscribe(check);
  check();
  const stopWatching = (): void => {
    unsubscribe();
    clock.clearTimeout(timer);
  };
  settled.then(stopWatching, stopWatching);
}

/** Returns a function that calls the functions of each key one after another. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return async <Result>(key: string, act: () => Promise<Result>): Promise<Result> => {
    const turn = (last.get(key) ?? Promise.resolve()).catch(() => {}).then(act);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}

/** Returns what an event did each time that a run received it: null if it had an effect, or else its refusal. */
export function outcomesOf(
  entries: readonly JournalEntry[],
  event: ClientEvent,
): readonly (RefusedAnswer | RefusedDirection | null)[] {
  const text = JSON.stringify(event);
  return entries.flatMap((entry, at) => {
    if (entry.type !== 'delivery' || JSON.stringify(entry.event) !== text) return [];
    const next = entries.slice(at + 1).find(({ type }) => type === 'delivery' || type.endsWith('-refused'));
    return [next?.type === 'answer-refused' || next?.type === 'direction-refused' ? next : null];
  });
}

const refusedAnswer = (why: string): HttpError =>
  new HttpError(409, 'answer_refused', `The event had no effect: ${why}.`, FINAL);

/** Whether a run has asked its client to run a tool. The result of any other call is never the client's to give. */
const isOfClient = (questionId: string, entries: readonly JournalEntry[]): boolean =>
  entries.some(
    (entry) => entry.type === 'approval-asked' && entry.questionId === questionId && entry.isClientTool === true,
  );

function requireRunning(entries: readonly JournalEntry[]): void {
  if (entries.some(({ type }) => type === 'answer'))
    throw new HttpError(409, 'run_ended', 'The run has ended and accepts no more events. Start another run.', FINAL);
}

/** Returns the cost of a run, which may be parked, and of the calls that have ended in its current phase. */
function costSoFar({ ref: actor }: Run): number {
  const { usage, inFlight } = actor.getSnapshot().context;
  return (usage.cost ?? 0) + (inFlight.usage.finished.cost ?? 0);
}

/** Throws `run_busy` if the store reports that another process is executing the run, which then must receive the event. */
function busy(error: unknown): never {
  if (!PostChainError.isInstance(error) || !['journal_held', 'journal_exists'].includes(error.code)) throw error;
  throw new HttpError(409, 'run_busy', 'Another process is executing this run. Try again when the run is waiting.', {
    'retry-after': '1',
  });
}

function unlessBusy<Result>(act: () => Result): Result {
  try {
    return act();
  } catch (error) {
    return busy(error);
  }
}

/** Returns the first entry of a run; null if the run does not exist. */
async function firstEntry(journals: JournalStore, runId: string): Promise<JournalEntry | null> {
  try {
    for await (const entry of journals.read(runId)) return entry;
  } catch (error) {
    // A store that cannot be used does not show whether the run exists.
    if (!PostChainError.isInstance(error) || error.code === 'invalid_path') throw error;
  }
  return null;
}
