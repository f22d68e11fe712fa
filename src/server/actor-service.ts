import type { AnyStateMachine } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { firstChars } from '../../machines/text/clip.ts';
import type { Clock } from '../durable/clock.ts';
import type { Json } from '../durable/codec.ts';
import type { DurableActor } from '../durable/durable-actor.ts';
import type { EnqueueOptions } from '../durable/enqueue.ts';
import { hasEnded } from '../durable/entries.ts';
import type { ActorSummary } from '../durable/journals/journal-store.ts';
import type { ActorEvent } from '../internal/accepted-events.ts';
import { type ActorState, actorStateOf, type NumberedState, type ShownMachine, statesOf } from './actor-states.ts';
import { createFeeds, type Feeds } from './feeds.ts';
import { FINAL, HttpError } from './http-error.ts';
import { type FollowableJournals, followable, type Labels, type ListPage, OwnJournals } from './own-journals.ts';
import { type Owner, ownId } from './owners.ts';
import type { UsageLimits } from './usage-limits.ts';

interface ServiceOptions {
  readonly machine: ShownMachine;
  readonly clock: Clock;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
  /** Receives each actor that this server opens. */
  readonly onOpen?: ((actor: Pick<OpenActor, 'id' | 'output'>) => void) | undefined;
}

/** How a queued actor is enqueued. */
type QueuePlace = Pick<EnqueueOptions<AnyStateMachine>, 'priority' | 'delayMs'>;

interface Begun {
  readonly input: unknown;
  readonly place: QueuePlace | undefined;
  readonly product: Readonly<Record<string, Json>>;
}

type OpenActor = DurableActor<AnyStateMachine>;

/** The worker looks for due delays this often. An actor with an earlier one stays in memory, so that it is not late. */
const SOON_MS = 5_000;

/** The actors of one durable machine of a server. For anyone but its owner, an actor does not exist. */
export class ActorService {
  readonly #options: ServiceOptions;
  readonly #journals: FollowableJournals;
  readonly #feeds: Feeds<NumberedState>;
  readonly #own: OwnJournals;
  readonly #open = new Map<string, OpenActor>();

  /** Throws `invalid_option` for a machine whose journals cannot be followed. */
  constructor(options: ServiceOptions) {
    const { machine, usage, eventsPerRun } = options;
    const { name, host } = machine;
    const journals = followable(host.journals, `machines.${name}`, 'a durable machine');
    this.#options = options;
    this.#journals = journals;
    this.#feeds = createFeeds((id, follow) => statesOf(machine, id, journals.follow(id, follow)), { latestOnly: true });
    this.#own = new OwnJournals({
      journals,
      machine: host.machineId,
      noun: 'actor',
      path: `/machines/${name}`,
      usage,
      eventsPerRun,
      labelsIn(first) {
        if (first.type !== 'start' || first.machine.id !== host.machineId) return {};
        const { owner, request } = Object(first.product) as Labels;
        return { owner, request };
      },
    });
  }

  get #host(): ShownMachine['host'] {
    return this.#options.machine.host;
  }

  /**
   * Starts an actor, or with `place` enqueues it, or returns the one that was started with the same idempotency key, and resolves when it is
   * stored. A `request` is stored too. Requests with the same key must have the same `request` or, without one, the same input.
   */
  async start(
    owner: Owner,
    { input, place }: { readonly input: unknown; readonly place?: QueuePlace | undefined },
    idempotencyKey?: string,
    request?: Readonly<Record<string, Json>>,
  ) {
    const begun = { input, place, product: { ...request, owner } };
    if (idempotencyKey === undefined) return this.#begin(owner, crypto.randomUUID(), begun);
    const id = await ownId('actor', this.#options.machine.name, owner, idempotencyKey);
    const digest = await ownId(JSON.stringify(request ?? input ?? null));
    return this.#own.start(id, () => this.#begin(owner, id, begun, digest));
  }

  async state(owner: Owner, id: string): Promise<ActorState> {
    const { value } = await (await this.#own.read(owner, id, this.#current(id))).next();
    return value as ActorState;
  }

  /** Yields the state of an actor, and then the state after each change, until it has ended or the signal aborts. */
  states(owner: Owner, id: string, signal: AbortSignal): Promise<AsyncGenerator<NumberedState, void>> {
    return this.#own.read(owner, id, this.#feeds.items(id, signal));
  }

  /** Resolves when the step of the event is stored: to false if it changed nothing, for example because its key is known or the actor has ended. */
  send(owner: Owner, id: string, event: ActorEvent, idempotencyKey?: string): Promise<boolean> {
    return this.#own.send(owner, id, async (entries) => {
      if (hasEnded(entries)) return false;
      this.#own.requireFewEvents(entries);
      return this.#send(owner, id, event, idempotencyKey);
    });
  }

  /** Sends an event, and resolves to the state after its step. Rejects with an `HttpError` 409 if the machine ignores it. */
  ask(owner: Owner, id: string, event: ActorEvent, idempotencyKey?: string): Promise<ActorState> {
    return this.#own.send(owner, id, async (entries) => {
      if (!hasEnded(entries)) this.#own.requireFewEvents(entries);
      const options = { ...(idempotencyKey !== undefined && { id: idempotencyKey }), reply: true } as const;
      const reply = await this.#opened(owner, id, () => this.#host.send(id, event, options)).catch(ignored);
      return actorStateOf(this.#options.machine, id, reply);
    });
  }

  /** Ends an actor, and resolves when that is stored: to false if it had ended. */
  stop(owner: Owner, id: string): Promise<boolean> {
    return this.#own.send(owner, id, async (entries) =>
      hasEnded(entries) ? false : this.#own.opening(owner, id, false, () => this.#host.stop(id)),
    );
  }

  /** Returns actors of the owner, newest first. */
  list(owner: Owner, page: ListPage): Promise<readonly ActorSummary[]> {
    return this.#own.list(owner, page);
  }

  /** Deletes an actor that has ended. */
  delete(owner: Owner, id: string): Promise<void> {
    return this.#own.delete(owner, id, this.#journals.delete && ((ended) => this.#host.delete(ended)));
  }

  /** Closes the actors in memory, so that any process with the store can continue them. */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#open.values(), (actor) => actor.close()));
  }

  #track(owner: Owner, actor: OpenActor): void {
    const left = actor.output.then(
      () => 0,
      () => 0,
    );
    if (!this.#own.track(owner, actor.id, left)) return;
    this.#options.onOpen?.(actor);
    this.#open.set(actor.id, actor);
    void left.then(() => this.#open.delete(actor.id));
  }

  /** Returns a rule for `park`. It may be called before the actor exists. */
  #mayPark(id: string): () => boolean {
    const isSafe = (dueAtMs: number): boolean => dueAtMs > this.#options.clock.now() + SOON_MS;
    return () => this.#open.get(id)?.pending.timers.every(({ dueAtMs }) => isSafe(dueAtMs)) ?? false;
  }

  async #begin(owner: Owner, id: string, { input, place, product }: Begun, request?: string) {
    if (await this.#own.isStarted(id, request)) return { id, isNew: false };
    // Nothing may be awaited between this and `#track`, or concurrent requests could start more actors than allowed.
    this.#options.usage.requireRun(owner);
    const options = {
      ...(input !== undefined && { input }),
      product: { ...product, ...(request !== undefined && { request }) },
    };
    if (place !== undefined) return { id, isNew: await this.#host.enqueue(id, { ...options, ...place }) };
    const actor = this.#own.unlessBusy(() => this.#host.start(id, { ...options, mayPark: this.#mayPark(id) }));
    this.#track(owner, actor);
    // Resolves when the first step is stored.
    await actor.park();
    void actor.park({ wait: true });
    // Another process may have started the actor at the same time.
    if (!(await this.#own.isStarted(id, request))) await actor.output;
    return { id, isNew: true };
  }

  async *#current(id: string): AsyncGenerator<ActorState, void> {
    yield actorStateOf(this.#options.machine, id, await this.#host.query(id));
  }

  #send(owner: Owner, id: string, event: ActorEvent, key?: string): Promise<boolean> {
    return this.#opened(owner, id, () => this.#host.send(id, event, key === undefined ? {} : { id: key }));
  }

  async #opened<Result>(owner: Owner, id: string, act: () => Promise<Result>): Promise<Result> {
    const open = () =>
      this.#host.open(id, { mustExist: true, mayPark: this.#mayPark(id) }).catch((error: unknown) => {
        const isHeld = PostChainError.isInstance(error) && error.code === 'journal_held';
        // `act` stores the event for the process that holds the actor.
        if (isHeld && this.#journals.mail !== undefined) return null;
        throw error;
      });
    const actor = await this.#own.opening(owner, id, true, open);
    if (actor !== null) this.#track(owner, actor);
    try {
      return await act().catch(this.#own.busy);
    } finally {
      void actor?.park({ wait: true });
    }
  }
}

/** Rethrows an error: as an `HttpError` if the machine has ignored the event. */
function ignored(error: unknown): never {
  if (!PostChainError.isInstance(error) || error.code !== 'event_ignored') throw error;
  throw new HttpError(409, error.code, firstChars(error.message, 500), FINAL);
}
