import type { AnyStateMachine } from 'xstate';
import type { Clock } from '../durable/clock.ts';
import type { Json } from '../durable/codec.ts';
import type { DurableActor } from '../durable/durable-actor.ts';
import type { ActorSummary } from '../durable/journals/journal-store.ts';
import { type ActorState, actorStateOf, type NumberedState, type ShownMachine, statesOf } from './actor-states.ts';
import { createFeeds } from './feeds.ts';
import { followable, type Labels, type ListPage, OwnJournals } from './own-journals.ts';
import { type Owner, ownId } from './owners.ts';
import type { UsageLimits } from './usage-limits.ts';

/** An event whose type and members are checked. */
export type ActorEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The actors of one durable machine of a server. For anyone but its owner, an actor does not exist. */
export interface ActorService {
  /** Starts an actor, or returns the one that was started with the same idempotency key, and resolves when it is stored. */
  start(
    owner: Owner,
    input: unknown,
    idempotencyKey?: string,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
  state(owner: Owner, id: string): Promise<ActorState>;
  /** Yields the state of an actor, and then the state after each change, until it has ended or the signal aborts. */
  states(owner: Owner, id: string, signal: AbortSignal): Promise<AsyncGenerator<NumberedState, void>>;
  /** Resolves when the step of the event is stored: to false if it changed nothing, for example because its key is known or the actor has ended. */
  send(owner: Owner, id: string, event: ActorEvent, idempotencyKey?: string): Promise<boolean>;
  /** Ends an actor, and resolves when that is stored: to false if it had ended. */
  stop(owner: Owner, id: string): Promise<boolean>;
  /** Returns actors of the owner, newest first. */
  list(owner: Owner, page: ListPage): Promise<readonly ActorSummary[]>;
  /** Deletes an actor that has ended. */
  delete(owner: Owner, id: string): Promise<void>;
  /** Closes the actors in memory, so that any process with the store can continue them. */
  close(): Promise<void>;
}

interface ServiceOptions {
  readonly machine: ShownMachine;
  readonly clock: Clock;
  readonly usage: UsageLimits;
  readonly eventsPerRun: number;
}

type OpenActor = DurableActor<AnyStateMachine>;

/** The worker looks for due delays this often. An actor with an earlier one stays in memory, so that it is not late. */
const SOON_MS = 5_000;

/** Throws `invalid_option` for a machine whose journals cannot be followed. */
export function createActorService({ machine, clock, usage, eventsPerRun }: ServiceOptions): ActorService {
  const { name, host } = machine;
  const journals = followable(host.journals, `machines.${name}`, 'a durable machine');
  const feeds = createFeeds((id, options) => statesOf(machine, id, journals.follow(id, options)), { latestOnly: true });
  const own = new OwnJournals({
    journals,
    machine: host.machineId,
    noun: 'actor',
    path: `/machines/${name}`,
    usage,
    eventsPerRun,
    labelsIn: (first) =>
      first.type === 'start' && first.machine.id === host.machineId ? (Object(first.product) as Labels) : {},
  });
  const open = new Map<string, OpenActor>();

  function track(owner: Owner, actor: OpenActor): void {
    const left = actor.output.then(
      () => 0,
      () => 0,
    );
    if (!own.track(owner, actor.id, left)) return;
    open.set(actor.id, actor);
    void left.then(() => open.delete(actor.id));
  }

  /** Returns a rule for `park`. It may be called before the actor exists. */
  const mayPark = (id: string) => (): boolean =>
    open.get(id)?.pending.timers.every(({ dueAtMs }) => dueAtMs > clock.now() + SOON_MS) ?? false;

  async function begin(owner: Owner, input: unknown, id: string, request?: string) {
    if (await own.isStarted(id, request)) return { id, isNew: false };
    // Nothing may be awaited between this and `track`, or concurrent requests could start more actors than allowed.
    usage.requireRun(owner);
    const product: Json = { owner, ...(request !== undefined && { request }) };
    const actor = own.unlessBusy(() =>
      host.start(id, { ...(input !== undefined && { input }), product, mayPark: mayPark(id) }),
    );
    track(owner, actor);
    // Resolves when the first step is stored.
    await actor.park();
    void actor.park({ wait: true });
    // Another process may have started the actor at the same time.
    if (!(await own.isStarted(id, request))) await actor.output;
    return { id, isNew: true };
  }

  async function* current(id: string): AsyncGenerator<ActorState, void> {
    yield actorStateOf(machine, id, await host.query(id));
  }

  async function send(owner: Owner, id: string, event: ActorEvent, key?: string): Promise<boolean> {
    const actor = await own.opening(owner, id, true, () => host.open(id, { mustExist: true, mayPark: mayPark(id) }));
    track(owner, actor);
    try {
      return await host.send(id, event, key === undefined ? {} : { id: key }).catch(own.busy);
    } finally {
      void actor.park({ wait: true });
    }
  }

  return {
    async start(owner, input, idempotencyKey) {
      if (idempotencyKey === undefined) return begin(owner, input, crypto.randomUUID());
      const id = await ownId('actor', name, owner, idempotencyKey);
      const request = await ownId(JSON.stringify(input ?? null));
      return own.start(id, () => begin(owner, input, id, request));
    },
    async state(owner, id) {
      const { value } = await (await own.read(owner, id, current(id))).next();
      return value as ActorState;
    },
    states: (owner, id, signal) => own.read(owner, id, feeds.items(id, signal)),
    send: (owner, id, event, key) =>
      own.send(owner, id, async (entries) => {
        if (entries.some(({ type }) => type === 'end')) return false;
        own.requireFewEvents(entries);
        return send(owner, id, event, key);
      }),
    stop: (owner, id) =>
      own.send(owner, id, async (entries) =>
        entries.some(({ type }) => type === 'end') ? false : own.opening(owner, id, false, () => host.stop(id)),
      ),
    list: (owner, page) => own.list(owner, page),
    delete: (owner, id) => own.delete(owner, id, journals.delete && ((ended) => host.delete(ended))),
    async close() {
      await Promise.all(Array.from(open.values(), (actor) => actor.close()));
    },
  };
}
