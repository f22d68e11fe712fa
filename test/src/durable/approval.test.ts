import { describe, expect, it } from 'vitest';
import { type AnyEventObject, assign, createActor, forwardTo, fromPromise, setup } from 'xstate';
import {
  type ApprovalDecision,
  approval,
  createDurableMachine,
  type DurableActor,
  type DurableEntry,
  type DurableMachine,
  idempotencyKey,
  type Journals,
  type Json,
  memoryJournals,
  type OpenApproval,
} from '../../../src/entries/durable.ts';
import { describeFinding, explore, findingsOf, precedes } from '../../../src/entries/testing.ts';
import { slowJournals, withWriters } from '../../support/journal-files.ts';
import { createRandom, SEED } from '../../support/random.ts';
import { nextTurn, TestClock } from '../../support/simulated-clock.ts';
import { sampleSize } from '../../support/soak.ts';

interface Payment {
  readonly to: string;
  readonly amount: number;
}

/** Pays two amounts, each after its own approval. */
function payer(pay: (payment: Payment, self: object) => void) {
  const paying = (next: string) => ({
    initial: 'asking',
    states: {
      asking: {
        invoke: {
          id: 'ask',
          src: 'approval',
          input: ({ context }: { context: { amount: number } }) => ({
            question: { to: 'ann', amount: context.amount },
          }),
          onDone: [
            {
              guard: ({ event }: { event: { output: { decision: string } } }) => event.output.decision === 'deny',
              target: `#${next}`,
            },
            {
              target: 'paying',
              actions: assign({ approved: ({ event }: { event: AnyEventObject }) => event['output'].question }),
            },
          ],
        },
      },
      paying: {
        invoke: {
          src: 'pay',
          input: ({ context }: { context: { approved: Payment | null } }) => context.approved as Payment,
          onDone: `#${next}`,
        },
      },
    },
  });
  return setup({
    types: { context: {} as { amount: number; approved: Payment | null } },
    actors: { approval, pay: fromPromise<void, Payment>(async ({ input, self }) => pay(input, self)) },
  }).createMachine({
    id: 'payer',
    context: { amount: 40, approved: null },
    initial: 'first',
    states: {
      first: paying('second') as never,
      second: { id: 'second', entry: assign({ amount: 50 }), ...(paying('end') as object) },
      end: { id: 'end', type: 'final' },
    },
  });
}

function setUp(journals: Journals = memoryJournals()) {
  const paid: Payment[] = [];
  const machine = payer((payment) => void paid.push(payment));
  const clock = new TestClock();
  return { paid, journals, clock, host: () => createDurableMachine(machine, { journals, clock }) };
}

const answerTo = ({ id, digest }: Pick<OpenApproval, 'id' | 'digest'>, decision: 'approve' | 'deny' = 'approve') =>
  ({ type: 'approval.given', id, digest, decision, by: 'bob' }) as const;

describe('an approval', () => {
  it('asks, can be parked, and lets the activity run once it is given', async () => {
    const { host, paid } = setUp();
    const actor = await host().open('p');
    const [asked, ...others] = actor.pending.approvals as readonly [OpenApproval];
    expect([asked, others]).toEqual([
      {
        id: expect.stringMatching(/^approval:x:\d+$/u),
        digest: expect.stringMatching(/^[\da-f]{16}$/u),
        question: { to: 'ann', amount: 40 },
        askedAtMs: 0,
      },
      [],
    ]);
    expect(await actor.park()).toBe(true);
    expect((await host().list())[0]?.waiting?.approvals).toEqual([asked]);
    expect(paid).toEqual([]);
    expect(await host().send('p', answerTo(asked))).toBe(true);
    await nextTurn();
    expect(paid).toEqual([{ to: 'ann', amount: 40 }]);
    expect(await host().send('p', answerTo(asked))).toBe(false);
    const second = await host().open('p');
    const [next] = second.pending.approvals as readonly [OpenApproval];
    expect([next.id === asked.id, next.digest === asked.digest]).toEqual([false, false]);
    // The journal has the digest that the person saw.
    expect(second.entries.find(({ type }) => type === 'delivery')).toMatchObject({
      event: { shownDigest: asked.digest },
    });
    const edited = { to: 'ann', amount: 5 };
    expect(await second.send({ ...answerTo(next), edited })).toBe(true);
    await second.output;
    expect(paid).toEqual([{ to: 'ann', amount: 40 }, edited]);
    expect((await host().replay('p')).divergence).toBeNull();
  });

  it.each<[string, (asked: OpenApproval) => object]>([
    ['another id', (asked) => ({ ...answerTo(asked), id: 'approval:x:99' })],
    ['another digest', (asked) => ({ ...answerTo(asked), digest: '0123456789abcdef' })],
    ['an unknown decision', (asked) => ({ ...answerTo(asked), decision: 'maybe' })],
    ['a reason that is not a text', (asked) => ({ ...answerTo(asked), reason: { text: 'no' } })],
    ['a person who is not a text', (asked) => ({ ...answerTo(asked), by: 7 })],
    ['no id', ({ digest }) => ({ type: 'approval.given', digest, decision: 'approve' })],
  ])('is not given by an answer with %s: nothing is stored', async (_, answer) => {
    const { host, paid } = setUp();
    const actor = await host().open('p');
    const { length } = actor.entries;
    expect(await actor.send(answer(actor.pending.approvals[0] as OpenApproval) as never)).toBe(false);
    expect([paid, actor.pending.approvals.length, actor.entries.length]).toEqual([[], 1, length]);
  });

  it('that is denied lets nothing run, also in a fork of its past', async () => {
    const { host, paid, clock } = setUp();
    const orders = host();
    const actor = await orders.open('p');
    const [asked] = actor.pending.approvals as readonly [OpenApproval];
    await actor.send({ ...answerTo(asked, 'deny'), edited: { to: 'eve', amount: 1 } });
    expect([paid, actor.pending.approvals[0]?.question]).toEqual([[], { to: 'ann', amount: 50 }]);
    clock.increment(60_000);
    const fork = await orders.fork('p', { at: actor.entries.length - 1, id: 'f' });
    // The fork asks when it is made.
    expect(fork.pending.approvals).toMatchObject([{ question: { to: 'ann', amount: 50 }, askedAtMs: 60_000 }]);
    // A replay shows the same, with the digest that answers it.
    const seen = Array.from(orders.replaySteps(fork.entries, undefined, 'f'), ({ pending }) => pending);
    expect(seen.at(-1)).toEqual(fork.pending);
    expect((await orders.replay('f')).divergence).toBeNull();
  });

  it('[Q1] is given by no answer to another actor, or to the one that it was forked from', async () => {
    const { host, paid } = setUp();
    const orders = host();
    const actor = await orders.open('p');
    const first = actor.pending.approvals[0] as OpenApproval;
    await orders.open('other');
    await orders.fork('p', { at: actor.entries.length - 1, id: 'f' });
    expect(await orders.send('other', answerTo(first))).toBe(false);
    expect(await orders.send('f', answerTo(first))).toBe(false);
    expect(await orders.send('p', answerTo(first))).toBe(true);
    await nextTurn();
    expect(paid).toHaveLength(1);
    const late = await orders.fork('p', { at: actor.entries.length - 1, id: 'g' });
    const next = late.pending.approvals[0] as OpenApproval;
    expect(await actor.send(answerTo(next))).toBe(false);
    expect(await late.send(answerTo(next))).toBe(true);
    await late.output;
    expect(paid).toHaveLength(2);
    expect((await orders.replay('g')).divergence).toBeNull();
  });

  it('[Q1] is given by no answer to a deleted actor, or fork, with the same id', async () => {
    const { host, paid, clock } = setUp();
    const orders = host();
    const create = { p: () => orders.open('p'), f: () => orders.fork('p', { at: 0, id: 'f' }) };
    const asked: OpenApproval[] = [];
    for (const id of ['p', 'f', 'f', 'p'] as const) {
      if ((await orders.list()).some((known) => known.id === id)) {
        await (await orders.open(id)).close();
        await orders.delete(id);
      }
      clock.increment(1);
      const actor = await create[id]();
      for (const earlier of asked) expect(await actor.send(answerTo(earlier))).toBe(false);
      asked.push(...actor.pending.approvals);
    }
    expect(paid).toEqual([]);
  });

  it('[Q1] is given once, and its second answer is not stored, while the store is busy', async () => {
    const actor = await setUp(slowJournals()).host().open('p');
    const denied = answerTo(actor.pending.approvals[0] as OpenApproval, 'deny');
    const sent = [{ type: 'other' }, denied, denied].map((event) => actor.send(event as never));
    expect(await Promise.all(sent)).toEqual([true, true, false]);
    expect(actor.entries.filter(({ type }) => type === 'delivery')).toHaveLength(2);
  });

  it('[Q1] is given by the answer that a machine checks and forwards', async () => {
    const machine = setup({ actors: { approval } }).createMachine({
      invoke: { id: 'ask', src: 'approval', input: { question: 1 }, onDone: '.paid' },
      on: { 'approval.given': { guard: ({ event }) => event['by'] === 'bob', actions: forwardTo('ask') } },
      initial: 'waiting',
      states: { waiting: {}, paid: {} },
    });
    const actor = await createDurableMachine(machine, { journals: memoryJournals() }).open('a');
    await actor.send({ ...answerTo(actor.pending.approvals[0] as OpenApproval), by: 'eve' });
    expect(actor.getSnapshot().value).toBe('waiting');
    await actor.send(answerTo(actor.pending.approvals[0] as OpenApproval));
    expect(actor.getSnapshot().value).toBe('paid');
  });

  it('works in an ordinary XState actor, where only its own answer gives it', async () => {
    const paid: Payment[] = [];
    const actor = createActor(payer((payment) => void paid.push(payment))).start();
    const { ask } = actor.getSnapshot().children as Record<
      string,
      { getSnapshot(): unknown; send(event: object): void }
    >;
    const asked = ask?.getSnapshot() as OpenApproval;
    for (const other of [
      { ...answerTo(asked), type: 'other' },
      { ...answerTo(asked), digest: 'other' },
    ])
      ask?.send(other);
    await nextTurn();
    expect(paid).toEqual([]);
    ask?.send(answerTo(asked));
    await nextTurn();
    expect(paid).toEqual([{ to: 'ann', amount: 40 }]);
  });

  it.each([
    ['approve', 'a discount', { question: 2, isEdited: true }],
    ['deny', null, { question: 1, isEdited: false }],
  ] as const)('outputs the decision "%s", who gave it, why (%j), and about what', (decision, reason, about) => {
    const actor = createActor(approval, { input: { question: 1 } }).start();
    actor.send({
      ...answerTo(actor.getSnapshot() as unknown as OpenApproval, decision),
      edited: 2,
      reason: reason as string,
    });
    expect(actor.getSnapshot().output).toEqual({ decision, ...about, by: 'bob', reason });
  });

  it.each([undefined, {}])('needs a question: the input %j is rejected', async (input) => {
    const machine = setup({ actors: { approval } }).createMachine({
      invoke: { src: 'approval', input: input as { question: string } },
    });
    const opened = createDurableMachine(machine, { journals: memoryJournals() }).open('a');
    await expect(opened).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it('fails only without a question, which `explore` knows', () => {
    const machine = setup({
      types: {} as { input: { question?: string }; context: { question?: string } },
      actors: { approval },
    }).createMachine({
      context: ({ input }) => input,
      initial: 'asking',
      states: {
        asking: {
          invoke: {
            src: 'approval',
            input: ({ context }) => ({ question: context.question as string }),
            onDone: 'answered',
            onError: 'failed',
          },
        },
        answered: { type: 'final' },
        failed: { type: 'final' },
      },
    });
    expect(createActor(machine, { input: {} }).start().getSnapshot().value).toBe('failed');
    const reached = (input: object) =>
      explore(machine, { inputs: { one: input } }).states.map(({ snapshot }) => snapshot.value);
    expect(reached({})).toEqual(['asking', 'failed']);
    expect(reached({ question: 'Pay?' })).toEqual(['asking', 'answered']);
  });

  it('declares an edited approval, so that `explore` finds a chart that ignores the edits', () => {
    const desk = (ignoresEdits: boolean, question: Json) => {
      const isApproved = (_: unknown, { decision, isEdited }: ApprovalDecision) =>
        decision === 'approve' && (ignoresEdits || !isEdited);
      const machine = setup({ actors: { approval }, guards: { isApproved } }).createMachine({
        id: 'desk',
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              src: 'approval',
              input: { question },
              onDone: [
                { guard: { type: 'isApproved', params: ({ event }) => event.output }, target: 'paying' },
                'left',
              ],
            },
          },
          paying: { type: 'final' },
          left: { type: 'final' },
        },
      });
      const property = precedes({ event: 'approval: approved' }, { state: 'paying' });
      return findingsOf(explore(machine), [property]).map(describeFinding)[0];
    };
    const question = { pay: 40, to: ['Ada', true, null] };
    expect(desk(false, question)).toContain('holds');
    expect(desk(true, question)).toContain('after start → approval: edited');
    expect(desk(true, { pay: null })).toContain('holds');
  });

  it('does not depend on the order of the members of its question', () => {
    const digestOf = (question: object) => {
      const actor = createActor(approval, { input: { question: question as never } });
      return (actor.getSnapshot() as unknown as OpenApproval).digest;
    };
    expect(digestOf({ a: 1, b: { c: 2, d: 3 } })).toBe(digestOf({ b: { d: 3, c: 2 }, a: 1 }));
    expect(digestOf({ a: [1, null] })).not.toBe(digestOf({ a: [null, 1] }));
    expect(digestOf({ a: { b: 1 } })).not.toBe(digestOf({ a: ['{}', ['b', 1]] }));
  });
});

/** A world in which processes pay by the same journals, and may die after a number of entries. */
function createWorld() {
  const journals = memoryJournals();
  const inner: Journals = { ...journals, open: (id, options) => journals.open(id, { ...options, force: true }) };
  const stored: DurableEntry[] = [];
  /** How often each payment was made, by its key. */
  const made = new Map<string, number>();
  const unapproved: string[] = [];
  const approvals = (): number => stored.filter((entry) => entry.type === 'delivery' && entry.actor !== '').length;
  const machine = payer((_, self) => {
    const key = idempotencyKey({ self });
    made.set(key, (made.get(key) ?? 0) + 1);
    if (made.size > approvals()) unapproved.push(key);
  });
  const mortal = (life: number): Journals => {
    let left = life;
    return withWriters(inner, (writer) => ({
      get failure() {
        return writer.failure;
      },
      get isFenced() {
        return writer.isFenced === true;
      },
      write(entries) {
        const kept = entries.slice(0, Math.max(0, left));
        left -= entries.length;
        if (kept.length > 0) writer.write(kept);
        // Another process may have taken over: then nothing was written.
        if (writer.failure === null) stored.push(...kept);
        return left < 0 ? new Promise(() => {}) : undefined;
      },
      close: () => writer.close(),
    }));
  };
  /** A process that takes the actor over. */
  const start = (life = Number.POSITIVE_INFINITY) =>
    createDurableMachine(machine, { journals: mortal(life), clock: new TestClock() });
  return { inner, made, unapproved, approvals, start };
}

const quiet = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await nextTurn();
};

/** Sends answers to open questions until the process has died or the actor has ended. */
async function answerAll(process: DurableMachine<ReturnType<typeof payer>>): Promise<void> {
  for (let answers = 0; answers < 3; answers += 1) {
    let actor: DurableActor<ReturnType<typeof payer>> | null = null;
    void process.open('p').then(
      (opened) => {
        actor = opened;
      },
      () => {},
    );
    await quiet();
    const [asked] = (actor as DurableActor<ReturnType<typeof payer>> | null)?.pending.approvals ?? [];
    if (asked !== undefined) void process.send('p', answerTo(asked)).catch(() => {});
    await quiet();
  }
}

describe('approvals of processes that are killed and that race', () => {
  it('let each activity run after its approval, once, whatever the entry of the kill', async () => {
    for (let life = 1; ; life += 1) {
      const world = createWorld();
      await answerAll(world.start(life));
      const isWhole = world.approvals() === 2 && (await world.inner.list())[0]?.status === 'done';
      await answerAll(world.start());
      expect(world.unapproved, `killed at ${life}`).toEqual([]);
      expect([world.made.size, world.approvals()], `killed at ${life}`).toEqual([2, 2]);
      // A call whose result was not stored is repeated with its key.
      const repeated = [...world.made.values()].reduce((sum, count) => sum + count, 0) - 2;
      expect(repeated, `killed at ${life}`).toBeLessThanOrEqual(1);
      expect((await world.start().replay('p')).divergence).toBeNull();
      if (isWhole) break;
    }
  });

  const seeds = Array.from({ length: sampleSize('simulations of approvals', 25, 3_000) }, (_, index) => SEED + index);

  it.each(seeds)('let no activity run before its approval, or twice for one (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const world = createWorld();
    const asked: OpenApproval[] = [];
    let denied = 0;
    for (let step = 0; step < 12; step += 1) {
      const process = world.start(random.chance(0.4) ? random.int(1, 6) : undefined);
      void process.open('p').then(
        (actor) => asked.push(...actor.pending.approvals),
        () => {},
      );
      await quiet();
      const [newest, one, other] = [asked.at(-1), random.pick([...asked, null]), random.pick([...asked, null])];
      if (newest === undefined || one === null || other === null) continue;
      const isDenied = random.chance(0.2);
      const answers = random.weighted<readonly object[]>([
        [3, [answerTo(newest, isDenied ? 'deny' : 'approve')]],
        [2, [{ ...answerTo(one), digest: other.digest }]],
        [2, [answerTo(newest), answerTo(newest)]],
      ]);
      denied += answers.some((answer) => (answer as { decision: string }).decision === 'deny') ? 1 : 0;
      // Two processes answer at the same time: one of them loses its lease.
      const rival = random.chance(0.3) ? world.start() : process;
      const [first, second] = answers;
      void process.send('p', first as never).catch(() => {});
      if (second !== undefined) void rival.send('p', second as never).catch(() => {});
      await quiet();
    }
    await answerAll(world.start());
    expect(world.unapproved).toEqual([]);
    expect(world.made.size).toBeLessThanOrEqual(2);
    expect(world.made.size).toBeGreaterThanOrEqual(2 - denied);
    expect((await world.inner.list())[0]?.status).toBe('done');
    expect((await world.start().replay('p')).divergence).toBeNull();
  });
});
