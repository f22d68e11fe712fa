import fc from 'fast-check';
import { expect } from 'vitest';
import { createMachine } from 'xstate';
import type { DurableEvent } from '../../src/durable/entries.ts';
import type { JournalStore } from '../../src/durable/journals/journal-store.ts';
import type { BeginLimits } from '../../src/durable/journals/queue.ts';
import { startEntry } from '../../src/durable/replay.ts';
import { writeJournal } from './journal-files.ts';

const machine = createMachine({ id: 'order' });

interface Place {
  readonly key?: string;
  readonly priority: number;
  readonly delayMs: number;
}

/** What happens to a queue. `at` chooses one of the journals that it can happen to. */
type Action =
  | ({ readonly type: 'enqueue' } & Place)
  | { readonly type: 'claim'; readonly count: number }
  | { readonly type: 'open' | 'end' | 'delete'; readonly at: number }
  | { readonly type: 'pass' };

const at = fc.nat(5);
const actionArb: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        type: fc.constant('enqueue' as const),
        key: fc.constantFrom('a', 'b'),
        priority: fc.integer({ min: -1, max: 1 }),
        delayMs: fc.constantFrom(0, 0, 1, 2),
      },
      { requiredKeys: ['type', 'priority', 'delayMs'] },
    ),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('claim' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('open' as const, 'end', 'end', 'delete'), at }) },
  { weight: 1, arbitrary: fc.constant({ type: 'pass' as const }) },
);
const few = fc.integer({ min: 1, max: 3 });
const limitsArb: fc.Arbitrary<BeginLimits> = fc.record(
  { concurrency: few, rate: fc.record({ starts: few, everyMs: fc.integer({ min: 1, max: 3 }) }) },
  { requiredKeys: [] },
);

/** Random limits and what happens with them. */
export const queueArb = fc.record({
  limits: limitsArb,
  keyLimits: limitsArb,
  actions: fc.array(actionArb, { minLength: 1, maxLength: 30 }),
});
type Scenario = typeof queueArb extends fc.Arbitrary<infer Value> ? Value : never;

interface Modeled extends Place {
  readonly id: string;
  readonly dueMs: number;
  status: 'queued' | 'claimed' | 'opened' | 'ended' | 'deleted';
  begunMs: number | null;
}

/** The journals of a queue, kept in the plainest way. */
class QueueModel {
  readonly all: Modeled[] = [];
  readonly #limits: BeginLimits;
  readonly #keyLimits: BeginLimits;

  constructor(limits: BeginLimits, keyLimits: BeginLimits) {
    this.#limits = limits;
    this.#keyLimits = keyLimits;
  }

  ids(...statuses: readonly Modeled['status'][]): readonly string[] {
    return this.all
      .filter(({ status }) => statuses.includes(status))
      .map(({ id }) => id)
      .toSorted();
  }

  claim(nowMs: number, count: number): readonly string[] {
    const claimed: string[] = [];
    const order = this.all.toSorted((one, other) => other.priority - one.priority || one.dueMs - other.dueMs);
    for (const each of order) {
      if (claimed.length === count || each.status !== 'queued' || each.dueMs > nowMs) continue;
      const ofKey = this.all.filter(({ key }) => key === each.key);
      if (isFull(this.#limits, this.all, nowMs)) continue;
      if (each.key !== undefined && isFull(this.#keyLimits, ofKey, nowMs)) continue;
      Object.assign(each, { status: 'claimed', begunMs: nowMs });
      claimed.push(each.id);
    }
    return claimed;
  }
}

function isFull({ concurrency, rate }: BeginLimits, of: readonly Modeled[], nowMs: number): boolean {
  const active = of.filter(({ status }) => status === 'claimed' || status === 'opened').length;
  const recent = of.filter(({ begunMs }) => begunMs !== null && begunMs > nowMs - (rate?.everyMs ?? 0)).length;
  return active >= (concurrency ?? 1e9) || recent >= (rate?.starts ?? 1e9);
}

/** Continues a journal, as if its process was killed afterwards. */
async function append(store: JournalStore, id: string, events: readonly DurableEvent[]): Promise<void> {
  const { entries, writer } = await store.open(id);
  await writer.write(events.map((event, index) => ({ seq: entries.length + index, atMs: 0, ...event })));
  await writer.close();
}

const RESUMED = { type: 'resumed', resumedAt: new Date(0).toISOString() } as const;
const END = { type: 'end', status: 'done', output: null, error: null } as const;

/** Checks that a store claims, in every situation, what the model of a queue claims. */
export async function checkQueue(store: JournalStore, { limits, keyLimits, actions }: Scenario): Promise<void> {
  const model = new QueueModel(limits, keyLimits);
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const enqueue = async ({ key, priority, delayMs }: Place): Promise<void> => {
    const id = `actor ${model.all.length}`;
    const dueMs = nowMs + delayMs;
    model.all.push({ id, ...(key && { key }), priority, delayMs, dueMs, status: 'queued', begunMs: null });
    const start = startEntry(machine, { actorId: id, input: null, startedAtMs: nowMs, seed: 1 });
    const queued = { type: 'queued', priority, beginsAtMs: dueMs, ...(key && { key }) } as const;
    await writeJournal(store, id, [
      { ...start, seq: 0, atMs: 0 },
      { ...queued, seq: 1, atMs: 0 },
    ]);
  };
  const chosen = (place: number, ...statuses: readonly Modeled['status'][]): Modeled | undefined =>
    model.all.filter(({ status }) => statuses.includes(status))[place];
  for (const action of actions) {
    if (action.type === 'pass') nowMs += 1;
    else if (action.type === 'enqueue') await enqueue(action);
    else if (action.type === 'claim') {
      const { count } = action;
      const claimed = await store.claim?.({ machine: 'order', nowMs, count, limits, keyLimits });
      expect(claimed).toEqual(model.claim(nowMs, count));
    } else if (action.type === 'open') {
      const found = chosen(action.at, 'queued');
      if (found) await append(store, found.id, [RESUMED]);
      if (found) found.status = 'opened';
    } else if (action.type === 'end') {
      const found = chosen(action.at, 'claimed', 'opened');
      if (found) await append(store, found.id, [RESUMED, END]);
      if (found) found.status = 'ended';
    } else {
      const found = chosen(action.at, 'queued', 'claimed', 'opened', 'ended');
      if (found) await store.delete?.(found.id);
      if (found) found.status = 'deleted';
    }
    const listed = async (status: 'queued' | 'interrupted' | 'done') =>
      (await store.list({ machine: 'order', status })).map(({ id }) => id).toSorted();
    expect(await listed('queued')).toEqual(model.ids('queued'));
    expect(await listed('interrupted')).toEqual(model.ids('claimed', 'opened'));
    expect(await listed('done')).toEqual(model.ids('ended'));
  }
}
