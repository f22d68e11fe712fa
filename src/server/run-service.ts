import {
  type ClientEvent,
  type RefusedAnswer,
  type RefusedDirection,
  refusalText,
} from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { PostChain } from '../chain/create-post-chain.ts';
import { CHAIN, isStartOfRun, parseRun, runEntries, runSummary } from '../chain/journal/run-journal.ts';
import { RUN_DESCRIPTION, type Run } from '../chain/runtime/run.ts';
import type { Clock } from '../durable/clock.ts';
import type { StartEntry } from '../durable/entries.ts';
import { createFeeds, type Feeds } from './feeds.ts';
import { refusedAnswer, runEnded } from './http-error.ts';
import { type FollowableJournals, followable, type Labels, OwnJournals } from './own-journals.ts';
import { type Owner, ownId, sessionIdOf } from './owners.ts';
import type { ClientRequest, ListRunsOptions, ServedRuns } from './served-runs.ts';
import { StoredChainRun } from './stored-chain-run.ts';
import { type NumberedUpdate, numberedUpdates, type Updates } from './updates.ts';
import type { UsageLimits } from './usage-limits.ts';

interface ServiceOptions {
  /** The name of the chain for clients. */
  readonly name: string;
  readonly chain: PostChain;
  readonly clock: Clock;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
  readonly onRun: (run: Run) => void;
}

/** The runs of a chain. */
export class RunService implements ServedRuns {
  readonly #options: ServiceOptions;
  readonly #journals: FollowableJournals;
  readonly #feeds: Feeds<NumberedUpdate>;
  readonly #own: OwnJournals;

  /** Throws `invalid_option` for a chain without journals that can be followed. */
  constructor(options: ServiceOptions) {
    const { chain, usage, eventsPerRun } = options;
    const journals = followable(chain.options.journals, 'chain', 'a chain');
    this.#options = options;
    this.#journals = journals;
    this.#feeds = createFeeds((runId, follow) => numberedUpdates(runEntries(journals.follow(runId, follow))));
    this.#own = new OwnJournals({
      journals,
      machine: CHAIN,
      noun: 'run',
      path: '/runs',
      usage,
      eventsPerRun,
      labelsIn: (first) => (isStartOfRun(first) ? Object(Object((first as StartEntry).product).host) : {}),
    });
  }

  async start(owner: Owner, { earlier: _, agent: __, ...request }: ClientRequest) {
    const { idempotencyKey } = request;
    if (idempotencyKey === undefined) return this.#begin(owner, request);
    const runId = await ownId('run', owner, idempotencyKey);
    return this.#own.start(runId, () => this.#begin(owner, request, runId));
  }

  updates(owner: Owner, runId: string, signal: AbortSignal): Promise<Updates> {
    return this.#own.read(owner, runId, this.#feeds.items(runId, signal));
  }

  has(owner: Owner, runId: string): Promise<boolean> {
    return this.#own.has(owner, runId);
  }

  async stored(owner: Owner, runId: string): Promise<StoredChainRun> {
    return new StoredChainRun(this.#options.name, await this.journal(owner, runId));
  }

  send(owner: Owner, runId: string, event: ClientEvent): Promise<void> {
    return this.#own.send(owner, runId, (entries) => this.#send(owner, runId, event, parseRun(entries)));
  }

  async hasAccepted(owner: Owner, runId: string, event: ClientEvent): Promise<boolean> {
    return outcomesOf(await this.journal(owner, runId), event).includes(null);
  }

  async list(owner: Owner, { conversation, ...page }: ListRunsOptions) {
    const isListed = (labels: Labels): boolean => conversation === undefined || labels['conversation'] === conversation;
    const found = (await this.#own.list(owner, page, isListed)).map(runSummary);
    return found.map(({ waiting, ...run }) => ({ ...run, waitingFor: waiting?.for ?? null }));
  }

  delete(owner: Owner, runId: string): Promise<void> {
    return this.#own.delete(owner, runId, this.#journals.delete);
  }

  async journal(owner: Owner, runId: string): Promise<readonly JournalEntry[]> {
    return parseRun(await this.#own.entries(owner, runId));
  }

  /** Counts a run of this process until it leaves memory, and then its cost above `spent`, which was counted before. */
  #track(run: Run, owner: Owner, spent = 0): void {
    const cost = run.settled.then((answer) => (answer?.metadata.cost?.amount ?? costSoFar(run)) - spent);
    if (!this.#own.track(owner, run.id, cost)) return;
    this.#options.onRun(run);
    parkWhenWaiting(run, this.#options.clock);
  }

  /** Resolves when a run is stored. From then on, it survives this process, and every request finds it. */
  async #stored(run: Run): Promise<void> {
    // Reading its journal opens the run, which would otherwise wait for its turn.
    void run.entries;
    const leaving = new AbortController();
    const updates = this.#feeds.items(run.id, leaving.signal);
    try {
      await Promise.race([updates.next(), run.settled]);
    } finally {
      leaving.abort();
      void updates.return().catch(() => {});
    }
  }

  async #begin(owner: Owner, asked: ClientRequest, runId?: string) {
    const { session, conversation, idempotencyKey, host, ...options } = asked;
    const own = this.#own;
    const request = runId === undefined ? undefined : await ownId(JSON.stringify(asked));
    if (runId !== undefined && (await own.isStarted(runId, request))) return { runId, isNew: false };
    const sessionId = session === undefined ? undefined : await sessionIdOf(owner, session);
    // Nothing may be awaited between this and `#track`, or concurrent requests could start more runs than allowed.
    this.#options.usage.requireRun(owner);
    const labels = { owner, ...(conversation !== undefined && { conversation }) };
    const run = own.unlessBusy(() =>
      this.#options.chain.run({
        ...options,
        ...(runId !== undefined && { runId }),
        ...(sessionId !== undefined && { sessionId }),
        host: { ...host, ...labels, ...(request !== undefined && { request }) },
      }),
    );
    own.remember(run.id, labels);
    this.#track(run, owner);
    await this.#stored(run);
    // Another process may have started the run at the same time.
    if (runId !== undefined) await own.isStarted(runId, request);
    return { runId: run.id, isNew: true };
  }

  async #send(owner: Owner, runId: string, event: ClientEvent, entries: readonly JournalEntry[]): Promise<void> {
    if (event.type === 'approval.given' && event.decision === 'respond' && !isOfClient(event.questionId, entries))
      throw refusedAnswer("only a call of one of the client's tools can be answered with a result");
    // A run can always be canceled, because it is over then.
    if (event.type !== 'run.cancelled') this.#own.requireFewEvents(entries);
    requireRunning(entries);
    // It continues, unless the event ends it.
    const continues = event.type !== 'run.cancelled' && event.type !== 'run.finished';
    const run = await this.#own.opening(owner, runId, continues, () => this.#options.chain.send(runId, event));
    this.#track(run, owner, costSoFar(run));
    const received = outcomesOf(run.entries, event).slice(outcomesOf(entries, event).length);
    // The run has ended in the meantime.
    if (received.length === 0) requireRunning(run.entries);
    // If an equal event of another request had an effect, so did this one.
    const refused = received.includes(null) ? null : received[0];
    if (refused) throw refusedAnswer(refusalText(refused));
  }
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

/** Returns what an event did each time that a run received it: null if it had an effect, or else its refusal. */
function outcomesOf(
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

/** Whether a run has asked its client to run a tool. The result of any other call is never the client's to give. */
const isOfClient = (questionId: string, entries: readonly JournalEntry[]): boolean =>
  entries.some(
    (entry) => entry.type === 'approval-asked' && entry.questionId === questionId && entry.isClientTool === true,
  );

function requireRunning(entries: readonly JournalEntry[]): void {
  if (entries.some(({ type }) => type === 'answer')) throw runEnded();
}

/** Returns the cost of a run, which may be parked, and of the calls that have ended in its current phase. */
function costSoFar({ ref: actor }: Run): number {
  const { usage, inFlight } = actor.getSnapshot().context;
  return (usage.cost ?? 0) + (inFlight.usage.finished.cost ?? 0);
}
