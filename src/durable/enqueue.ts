import type { AnyMachineSnapshot, AnyStateMachine, InputFrom } from 'xstate';
import { PostChainError } from '../../machines/contracts/error.ts';
import { describeValue } from '../internal/describe-value.ts';
import { collectIn, DurableActorSystem, type SystemParts } from './actor-system.ts';
import { copyOfJson, type Json } from './codec.ts';
import { type Attributes, type DurableEntry, type DurableEvent, isRedacted, type StartEntry } from './entries.ts';
import type { JournalStore } from './journals/journal-store.ts';
import type { QueueOptions } from './journals/queue.ts';
import { startEntry } from './replay.ts';

export interface EnqueueOptions<Machine extends AnyStateMachine> {
  readonly input?: InputFrom<Machine>;
  /** A whole number from -100 to 100; by default 0. The highest begins first. */
  readonly priority?: number;
  /** How long the actor waits at least before it begins, in milliseconds; by default 0. */
  readonly delayMs?: number;
  /** JSON to store in the first entry. */
  readonly product?: Json;
}

export interface EnqueueHost {
  readonly machine: AnyStateMachine;
  readonly journals: JournalStore;
  readonly queue: QueueOptions | undefined;
  readonly parts: SystemParts;
  readonly nowMs: number;
  readonly describeAttributes: (snapshot: AnyMachineSnapshot) => Attributes | null;
}

const MOST_PRIORITY = 100;

const invalid = (name: string, expected: string, received: unknown): PostChainError =>
  new PostChainError(
    'invalid_option',
    `${name} of enqueue: expected ${expected}; received ${describeValue(received)}.`,
  );

/** Stores a new actor, which a worker begins. Returns false if there already is one with this id, machine and input. */
export async function enqueueActor(
  host: EnqueueHost,
  id: string,
  {
    input,
    priority = 0,
    delayMs = 0,
    product = null,
    parent,
  }: EnqueueOptions<AnyStateMachine> & Pick<StartEntry, 'parent'>,
): Promise<boolean> {
  const { machine, journals, queue, parts, nowMs } = host;
  if (queue === undefined)
    throw new PostChainError(
      'invalid_option',
      `enqueue: the durable machine has no queue; ${
        journals.claim === undefined
          ? 'its store cannot have one: use memoryJournals, sqliteJournals or postgresJournals, and "queue: {}"'
          : 'create it with "queue: {}"'
      }.`,
    );
  if (!Number.isInteger(priority) || Math.abs(priority) > MOST_PRIORITY)
    throw invalid('priority', `a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`, priority);
  const beginsAtMs = Math.ceil(nowMs + delayMs);
  if (typeof delayMs !== 'number' || !(delayMs >= 0) || Number.isNaN(new Date(beginsAtMs).getTime()))
    throw invalid('delayMs', 'a number of milliseconds, at least 0', delayMs);
  const key: unknown = queue.key?.(input as never);
  if (key !== undefined && (typeof key !== 'string' || key === ''))
    throw invalid('the result of "key"', 'a non-empty string, or undefined', key);
  const start = startEntry(machine, {
    actorId: id,
    input: parts.codec.encode(input, 'input'),
    product: copyOfJson(product, `product of ${id}`),
    startedAtMs: nowMs,
    parent,
  });
  const attributes = attributesAtStart(host, start);
  const queued = { type: 'queued', priority, ...(key !== undefined && { key }), beginsAtMs } as const;
  const events: readonly DurableEvent[] = [
    start,
    ...(attributes === null ? [] : [{ type: 'attributes', attributes } as const]),
    queued,
  ];
  return store(
    journals,
    id,
    events.map((event, seq) => ({ seq, atMs: 0, ...event })),
  );
}

/** Throws what the initial context throws, so that no actor that cannot begin is enqueued. */
function attributesAtStart(host: EnqueueHost, start: Extract<DurableEvent, { type: 'start' }>): Attributes | null {
  const system = new DurableActorSystem(start, host.parts, collectIn([]));
  system.create();
  const { status, error } = system.root.getSnapshot() as { status: string; error?: unknown };
  if (status === 'error') throw error;
  const attributes = host.describeAttributes(system.root.getSnapshot() as AnyMachineSnapshot);
  system.close();
  return attributes !== null && Object.keys(attributes).length > 0 ? attributes : null;
}

async function store(journals: JournalStore, id: string, entries: readonly DurableEntry[]): Promise<boolean> {
  if ((await journals.has?.(id)) !== true) {
    const failure = await write(journals, id, entries);
    if (failure === null) return true;
    if (failure.code !== 'journal_exists') throw failure;
  }
  if (await isSameStart(journals, id, entries)) return false;
  throw new PostChainError(
    'journal_exists',
    `actor ${id}: expected a new id, or the same input; received the id of another actor. Use another id.`,
  );
}

async function write(
  journals: JournalStore,
  id: string,
  entries: readonly DurableEntry[],
): Promise<PostChainError | null> {
  try {
    const writer = journals.create(id);
    await writer.write(entries);
    await writer.close();
    const { failure, isFenced } = writer;
    return failure === null ? null : new PostChainError(isFenced ? 'journal_exists' : 'journal_failed', failure);
  } catch (error) {
    if (PostChainError.isInstance(error) && ['journal_exists', 'journal_held'].includes(error.code))
      return new PostChainError('journal_exists', error.message);
    throw error;
  }
}

/** The input in a redacted journal differs, so it is not compared. */
async function isSameStart(journals: JournalStore, id: string, [given]: readonly DurableEntry[]): Promise<boolean> {
  for await (const known of journals.read(id)) {
    if (known.type !== 'start' || given?.type !== 'start' || known.machine.id !== given.machine.id) return false;
    return isRedacted(known) || JSON.stringify(known.input) === JSON.stringify(given.input);
  }
  return false;
}
