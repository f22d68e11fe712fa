import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import {
  approval,
  createDurableMachine,
  type Journals,
  memoryJournals,
  type PostChainError,
} from '../../../src/entries/durable.ts';
import { bearerTokens, createServer, type ServerOptions } from '../../../src/entries/server.ts';
import type { ActorState } from '../../../src/server/actor-states.ts';
import { ALICE, BOB, clientOf, eventsIn, serveUntilEnd, startServer } from '../../support/chain-server.ts';
import { temporaryFolder } from '../../support/cli.ts';
import { hasPostgres, startPostgres } from '../../support/postgres.ts';
import { past } from '../../support/recorded-actors.ts';
import { TestClock } from '../../support/simulated-clock.ts';

/** An order that is paid after an approval, and shipped by an event or after a day. `pay` ends when the test says so. */
function orderMachine(pay: () => Promise<string> = async () => 'r-1') {
  return setup({
    types: { context: {} as { amount: number; secret: string; receipt: string | null; notes: readonly string[] } },
    actors: { approval, pay: fromPromise<string, object>(pay) },
  }).createMachine({
    id: 'order',
    context: ({ input }) => ({ ...Object(input), secret: 'xyz', receipt: null, notes: [] }),
    initial: 'open',
    on: {
      NOTE: { actions: assign({ notes: ({ context, event }) => [...context.notes, String(Object(event).text)] }) },
      CANCEL: '.canceled',
    },
    states: {
      open: { on: { PAY: 'asking' }, tags: 'editable' },
      asking: {
        invoke: {
          id: 'ask',
          src: 'approval',
          input: ({ context }) => ({ question: { amount: context.amount } }),
          onDone: [{ guard: ({ event }) => event.output.decision === 'deny', target: 'open' }, { target: 'paying' }],
        },
      },
      paying: {
        invoke: {
          src: 'pay',
          input: {},
          onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
        },
      },
      paid: { on: { SHIP: 'shipped' }, after: { 86400000: 'shipped' } },
      shipped: { type: 'final' },
      canceled: { type: 'final' },
    },
    output: ({ context }) => ({ receipt: context.receipt }),
  });
}

const ordersIn = (journals: Journals, pay?: () => Promise<string>) =>
  createDurableMachine(orderMachine(pay), { journals });

/** Serves orders without a chain. */
async function serveOrders(given: Partial<ServerOptions> & { journals?: Journals; pay?: () => Promise<string> } = {}) {
  const { journals = memoryJournals(), pay, ...options } = given;
  const host = ordersIn(journals, pay);
  const served = await serveUntilEnd({ machines: { order: host }, ...options });
  return { host, journals, ...served, ...actorsOf(served) };
}

/** Requests about orders. */
function actorsOf({ get, post }: Pick<ReturnType<typeof clientOf>, 'get' | 'post'>) {
  const keyed = (key?: string) => (key === undefined ? {} : { headers: { 'idempotency-key': key } });
  const path = (id: string): string => `/machines/order/${id}`;
  return {
    begin: async (input: object = { amount: 40 }): Promise<string> =>
      ((await (await post('/machines/order', { input })).json()) as { id: string }).id,
    state: async (id: string) => (await (await get(path(id))).json()) as ActorState,
    say: async (id: string, event: object, key?: string) => {
      const response = await post(`${path(id)}/events`, event, keyed(key));
      return [response.status, await response.json()] as [number, { changed?: boolean; code?: string }];
    },
    stop: async (id: string, token = ALICE) => {
      const response = await post(`${path(id)}/stop`, {}, { token });
      const { changed, code } = (await response.json()) as { changed?: boolean; code?: string };
      return [response.status, changed ?? code];
    },
    /** Yields the states of a stream as they arrive. */
    states: async function* (id: string, after?: string) {
      const response = await get(
        `${path(id)}/events`,
        after === undefined ? {} : { headers: { 'last-event-id': after } },
      );
      expect(response.status).toBe(200);
      for await (const { id: seq = '', data } of eventsIn(response))
        yield { seq, state: JSON.parse(data) as ActorState };
    },
  };
}

/** Starts a process that serves a machine that keeps notes. */
async function servingNotes(kind: string, place: string) {
  const args = ['test/support/serving-notes.mjs', kind, place];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [printed] = (await once(child.stdout, 'data')) as [Buffer];
  return actorsOf(clientOf(`http://127.0.0.1:${printed.toString().trim()}`));
}

const CHANGED = [200, { changed: true }];
const UNCHANGED = [200, { changed: false }];

describe('an actor of a durable machine', () => {
  it('accepts events again, and cannot be deleted, once it was retried after its end', async () => {
    let calls = 0;
    const pay = async (): Promise<string> => {
      calls += 1;
      if (calls === 1) throw new Error('card refused');
      return 'r-1';
    };
    const { begin, get, host, say, state, stop } = await serveOrders({ pay });
    const id = await begin();
    await say(id, { type: 'PAY' });
    const [asked] = (await state(id)).pending.approvals;
    await say(id, { type: 'approval.given', id: asked?.id, digest: asked?.digest, decision: 'approve' });
    await expect.poll(async () => (await state(id)).status).toBe('error');
    await host.retry(id);
    expect(await state(id)).toMatchObject({ status: 'waiting', value: 'paid' });
    expect((await get(`/machines/order/${id}`, { method: 'DELETE' })).status).toBe(409);
    expect(await say(id, { type: 'NOTE', text: 'still here' })).toEqual(CHANGED);
    expect(await stop(id)).toEqual([200, true]);
  });

  it('is enqueued with "queued", once for each idempotency key; other places and machines without a queue are refused', async () => {
    const journals = memoryJournals();
    const host = createDurableMachine(orderMachine(), { journals, queue: {} });
    const { post } = await startServer({ machines: { order: host, unqueued: ordersIn(memoryJournals()) } });
    const enqueue = async (body: object, name = 'order', key = 'k') => {
      const response = await post(`/machines/${name}`, body, { headers: { 'idempotency-key': key } });
      return [response.status, await response.json()] as const;
    };
    const queued = { input: { amount: 40 }, queued: true, priority: 5, delayMs: 1e9 };
    const [status, { id }] = (await enqueue(queued)) as [number, { id: string }];
    expect([status, await enqueue(queued)]).toEqual([201, [200, { id }]]);
    expect(await host.list({ status: 'queued' })).toMatchObject([{ id, queued: { priority: 5 } }]);
    expect((await enqueue({ ...queued, priority: 1.5 }, 'order', 'other'))[1]).toMatchObject({
      code: 'invalid_request',
      message: 'priority of enqueue: expected a whole number from -100 to 100; received 1.5.',
    });
    expect((await enqueue(queued, 'unqueued'))[0]).toBe(400);
    expect((await enqueue({ delayMs: 1 }, 'order', 'third'))[0]).toBe(400);
    expect((await host.list()).length).toBe(1);
  });

  it('is started, shown, changed by events, and deleted when it has ended', async () => {
    const { get, post, say, state, journals } = await serveOrders();
    const started = await post('/machines/order', { input: { amount: 40 } });
    const { id } = (await started.json()) as { id: string };
    expect([started.status, started.headers.get('location')]).toEqual([201, `/machines/order/${id}`]);
    expect(await state(id)).toEqual({
      id,
      machine: 'order',
      status: 'waiting',
      value: 'open',
      context: { amount: 40, secret: 'xyz', receipt: null, notes: [] },
      tags: ['editable'],
      output: null,
      error: null,
      pending: { events: expect.arrayContaining(['PAY', 'NOTE', 'CANCEL']), approvals: [], dueAtMs: null },
    });
    // It only waits, so any process may continue it.
    await expect.poll(async () => (await journals.list()).map(({ status }) => status)).toEqual(['waiting']);
    expect(await say(id, { type: 'NOTE', text: 'fragile' })).toEqual(CHANGED);
    expect(await say(id, { type: 'UNKNOWN' })).toEqual(CHANGED);
    expect(await state(id)).toMatchObject({ value: 'open', context: { notes: ['fragile'] } });
    const remove = () => get(`/machines/order/${id}`, { method: 'DELETE' });
    expect([(await remove()).status, await (await remove()).json()]).toMatchObject([409, { code: 'actor_active' }]);
    await say(id, { type: 'CANCEL' });
    expect(await say(id, { type: 'PAY' })).toEqual(UNCHANGED);
    expect(await state(id)).toMatchObject({ status: 'done', value: 'canceled', output: { receipt: null } });
    expect((await remove()).status).toBe(204);
    expect((await get(`/machines/order/${id}`)).status).toBe(404);
  });

  it('is started once and receives an event once, however often the request is repeated', async () => {
    const { post, say, state } = await serveOrders();
    const key = { headers: { 'idempotency-key': 'cart-7' } };
    const responses = await Promise.all([1, 2, 3].map(() => post('/machines/order', { input: { amount: 1 } }, key)));
    const [first, ...others] = (await Promise.all(responses.map((response) => response.json()))) as { id: string }[];
    expect(others).toEqual([first, first]);
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 200, 201]);
    expect((await post('/machines/order', { input: { amount: 2 } }, key)).status).toBe(422);
    const id = first?.id ?? '';
    const note = { type: 'NOTE', text: 'fragile' };
    const sent = await Promise.all([1, 2, 3].map(() => say(id, note, 'n-1')));
    expect(sent.filter(([, { changed }]) => changed)).toHaveLength(1);
    expect(await say(id, note, 'n-2')).toEqual(CHANGED);
    expect((await state(id)).context).toMatchObject({ notes: ['fragile', 'fragile'] });
  });

  it('lists the actors with some attributes, unless the machine has a view', async () => {
    const describeAttributes = ({ context }: { context: { amount: number } }) => ({ amount: context.amount });
    const host = createDurableMachine(orderMachine(), {
      journals: memoryJournals(),
      describeAttributes: describeAttributes as never,
    });
    const { post, get } = await serveUntilEnd({ machines: { order: host, seen: { host, view: () => null } } });
    const found = async (where: string) => {
      const response = await get(`/machines/${where}`);
      const { actors = [], message } = (await response.json()) as {
        actors?: { attributes: unknown }[];
        message?: string;
      };
      return message ?? actors.map(({ attributes }) => attributes);
    };
    for (const amount of [40, 41]) await post('/machines/order', { input: { amount } });
    expect(await found('order?where=amount%3D40')).toEqual([{ amount: 40 }]);
    expect(await found('order?where=amount=40&where=amount=41')).toHaveLength(2);
    // What is not an attribute cannot be searched.
    expect(await found('order?where=owner=alice')).toEqual([]);
    expect(await found('seen')).toEqual([{}, {}]);
    expect((await get('/machines/seen?where=amount=40')).status).toBe(400);
    expect((await get('/machines/order?where=amount')).status).toBe(400);
  });

  it('accepts an approval only for the question that it asks, and records who gave it', async () => {
    const { say, state, begin, get, journals } = await serveOrders();
    const id = await begin();
    await say(id, { type: 'PAY' });
    await expect
      .poll(async () => (await get('/machines/order')).json())
      .toMatchObject({ actors: [{ waitingFor: expect.arrayContaining(['approval']) }] });
    const { pending } = await state(id);
    expect(pending.approvals).toMatchObject([{ question: { amount: 40 } }]);
    const [{ id: asked, digest } = { id: '', digest: '' }] = pending.approvals;
    const answer = { type: 'approval.given', id: asked, digest, decision: 'approve' };
    expect(await say(id, { ...answer, digest: 'other' })).toEqual(UNCHANGED);
    expect(await say(id, { ...answer, by: 'mallory' })).toMatchObject([400, { code: 'invalid_request' }]);
    expect(await say(id, answer)).toEqual(CHANGED);
    await expect.poll(() => state(id)).toMatchObject({ value: 'paid', status: 'waiting', context: { receipt: 'r-1' } });
    expect((await state(id)).pending.dueAtMs).toBeGreaterThan(Date.now() + 86_000_000);
    const given = [];
    for await (const entry of journals.read(id)) if (entry.type === 'delivery') given.push(entry.event);
    expect(given).toContainEqual(expect.objectContaining({ type: 'approval.given', by: 'alice' }));
  });

  it('streams its state after each change until it has ended, and continues after a lost connection', async () => {
    const { say, begin, states, disconnect, health } = await serveOrders();
    const id = await begin();
    const stream = states(id);
    const next = async () => (await stream.next()).value ?? expect.unreachable();
    expect((await next()).state).toMatchObject({ value: 'open', context: { notes: [] } });
    await say(id, { type: 'NOTE', text: 'a' });
    const { seq, state } = await next();
    expect(state).toMatchObject({ value: 'open', context: { notes: ['a'] } });
    disconnect();
    await expect(stream.next()).rejects.toThrow();
    await say(id, { type: 'PAY' });
    const seen: unknown[] = [];
    let last = seq;
    for await (const { seq: following, state } of states(id, seq)) {
      expect(Number(following)).toBeGreaterThan(Number(last));
      last = following;
      seen.push(state.value);
      if (state.value === 'asking') await say(id, { type: 'CANCEL' });
    }
    expect(seen).toEqual(['asking', 'canceled']);
    // Nothing comes after the last state.
    for await (const _ of states(id, last)) expect.unreachable();
    await expect.poll(health).toMatchObject({ streams: 0, runs: 0 });
  });

  it('replies to an event with its state after the step, again for the same key, and refuses one that it ignores', async () => {
    const { begin, post } = await serveOrders();
    const id = await begin();
    const ask = async (event: object, key: string) => {
      const response = await post(`/machines/order/${id}/events?reply=true`, event, {
        headers: { 'idempotency-key': key },
      });
      return [response.status, await response.json()];
    };
    expect(await ask({ type: 'SHIP' }, '1')).toMatchObject([
      409,
      { code: 'event_ignored', message: expect.stringContaining('the actor accepts') },
    ]);
    expect(await ask({ type: 'PAY' }, '2')).toMatchObject([200, { id, value: 'asking', pending: { approvals: [{}] } }]);
    expect(await ask({ type: 'CANCEL' }, '3')).toMatchObject([200, { value: 'canceled', status: 'done' }]);
    expect(await ask({ type: 'PAY' }, '2')).toMatchObject([200, { id, value: 'asking', status: 'waiting' }]);
    expect(await ask({ type: 'PAY' }, '4')).toMatchObject([409, { code: 'event_ignored' }]);
  });

  it('exists for its owner only, also if other code has started it', async () => {
    const { host, begin, get, post } = await serveOrders();
    const id = await begin();
    await host.start('of-alice', { input: {} as never, product: { owner: 'alice' } }).close();
    await host.start('of-nobody', { input: {} as never }).close();
    const missing = await get('/machines/order/none', { token: BOB });
    const text = await missing.text();
    for (const [path, token] of [
      [id, BOB],
      [`${id}/events`, BOB],
      ['of-nobody', ALICE],
    ] as const) {
      const response = await get(`/machines/order/${path}`, { token });
      expect([response.status, await response.text()]).toEqual([404, text]);
    }
    expect((await post(`/machines/order/${id}/events`, { type: 'CANCEL' }, { token: BOB })).status).toBe(404);
    expect((await get(`/machines/order/${id}`, { method: 'DELETE', token: BOB })).status).toBe(404);
    const listed = async (token: string) =>
      ((await (await get('/machines/order', { token })).json()) as { actors: { id: string }[] }).actors;
    expect((await listed(ALICE)).map((actor) => actor.id).toSorted()).toEqual([id, 'of-alice'].toSorted());
    expect(await listed(BOB)).toEqual([]);
    expect(await listed(ALICE)).toContainEqual(
      expect.objectContaining({ waitingFor: expect.arrayContaining(['PAY']) }),
    );
  });

  it('is refused with `diverged`, which the log explains, if its machine has changed', async () => {
    const journals = memoryJournals();
    const { begin, say } = await serveOrders({ journals });
    const id = await begin();
    await say(id, { type: 'NOTE', text: 'secret' });
    await say(id, { type: 'PAY' });
    const changed = setup({}).createMachine({ id: 'order', initial: 'open', states: { open: {} } });
    const host = createDurableMachine(changed, { journals });
    const logged: unknown[] = [];
    const { get } = await serveUntilEnd({ machines: { order: host }, onLog: (line) => logged.push(line) });
    const response = await get(`/machines/order/${id}`);
    const body = await response.text();
    expect([response.status, JSON.parse(body).code]).toEqual([409, 'diverged']);
    expect(body).not.toContain('entry');
    expect(logged).toContainEqual(expect.objectContaining({ error: expect.objectContaining({ code: 'diverged' }) }));
  });

  it('belongs to the owner of its journal, also if an earlier one with the same id had another owner', async () => {
    const { host, get } = await serveOrders();
    const statuses = () =>
      Promise.all(
        [ALICE, BOB].flatMap((token) =>
          ['x', 'x/events'].map(async (path) => {
            const { status, body } = await get(`/machines/order/${path}`, { token });
            await body?.cancel();
            return status;
          }),
        ),
      );
    await host.start('x', { product: { owner: 'alice' } }).close();
    expect(await statuses()).toEqual([200, 200, 404, 404]);
    await host.delete('x');
    await host.start('x', { product: { owner: 'bob' } }).close();
    expect(await statuses()).toEqual([404, 404, 200, 200]);
  });

  it('is stopped by its owner, once, also while it makes a call, after its process was killed, or when it is due', async () => {
    const { mail: _, ...journals } = memoryJournals();
    let calls = 0;
    const pay = () => new Promise<string>(() => (calls += 1));
    const killed = ordersIn(journals, pay).start('o-1', { product: { owner: 'alice' } });
    const late = createDurableMachine(orderMachine(), { journals, clock: past }).start('o-2', {
      product: { owner: 'alice' },
    });
    // No worker of the server continues an actor meanwhile.
    const given = { journals, pay, limits: { eventsPerRun: 2 }, clock: new TestClock() };
    const { begin, say, state, stop, health, get } = await serveOrders(given);
    const id = await begin();
    for (const sent of [killed, late, null]) {
      const of = sent?.id ?? id;
      const send = async (event: object) => (sent ? sent.send(event as never) : say(of, event));
      await send({ type: 'PAY' });
      const [{ id: asked, digest } = { id: '', digest: '' }] = (await state(of)).pending.approvals;
      await send({ type: 'approval.given', id: asked, digest, decision: 'approve' });
    }
    expect([await stop('o-1'), (await state('o-1')).status]).toEqual([[409, 'actor_busy'], 'running']);
    await Promise.all([killed.close(), late.close()]);
    expect([await stop(id, BOB), await stop('none')]).toEqual([
      [404, 'unknown_actor'],
      [404, 'unknown_actor'],
    ]);
    for (const of of [id, 'o-1', 'o-2']) {
      expect([await stop(of), await stop(of)]).toEqual([
        [200, true],
        [200, false],
      ]);
      expect(await state(of)).toMatchObject({ status: 'stopped', output: null });
    }
    expect(calls).toBe(2);
    await expect.poll(health).toMatchObject({ runs: 0 });
    expect((await get(`/machines/order/${id}`, { method: 'DELETE' })).status).toBe(204);
  });

  it('is read from memory, or from its last keyframes', async () => {
    const journals = memoryJournals();
    let read = 0;
    const counting: Journals = {
      ...journals,
      async *read(id, options) {
        for await (const entry of journals.read(id, options)) {
          read += 1;
          yield entry;
        }
      },
    };
    const { host, state, begin } = await serveOrders({ journals: counting });
    const id = await begin();
    const actor = await host.open(id);
    for (let at = 0; at < 5_000; at += 1) void actor.send({ type: 'NOTE', text: at } as never);
    await actor.send({ type: 'PAY' });
    read = 0;
    expect(await state(id)).toMatchObject({ value: 'asking' });
    expect(read).toBe(1);
    await actor.send({ type: 'CANCEL' });
    read = 0;
    expect(await state(id)).toMatchObject({ value: 'canceled' });
    expect(read).toBeLessThan(3_000);
  });

  it('is listed page by page, the newest first', async () => {
    const { host, get } = await serveOrders();
    for (const [at, id] of ['a', 'b', 'c'].entries())
      await host.start(id, { startedAtMs: at * 1_000, product: { owner: 'alice' } }).close();
    const page = async (query: string) =>
      ((await (await get(`/machines/order?${query}`)).json()) as { actors: { id: string; startedAt: string }[] })
        .actors;
    const [first] = await page('limit=1');
    expect(first?.id).toBe('c');
    expect((await page(`before=${first?.startedAt}`)).map(({ id }) => id)).toEqual(['b', 'a']);
    expect((await get('/machines/order?limit=0')).status).toBe(400);
  });

  it('counts as a run while it makes a call, and not while it waits', async () => {
    let end = (_: string): void => {};
    const pay = () => new Promise<string>((resolve) => (end = resolve));
    const limits = { runsPerOwner: 1, eventsPerRun: 4, streamsPerOwner: 1 };
    const { begin, say, state, post, health, states } = await serveOrders({ pay, limits });
    const [one, two] = [await begin(), await begin()];
    await say(one, { type: 'PAY' });
    const [{ id, digest } = { id: '', digest: '' }] = (await state(one)).pending.approvals;
    // The answer comes back while the payment is in progress.
    expect(await say(one, { type: 'approval.given', id, digest, decision: 'approve' })).toEqual(CHANGED);
    expect(await health()).toMatchObject({ runs: 1 });
    expect((await state(one)).status).toBe('running');
    expect(await say(two, { type: 'NOTE', text: '' })).toMatchObject([429, { code: 'too_many_runs' }]);
    expect(await say(one, { type: 'NOTE', text: '' })).toEqual(CHANGED);
    end('r-2');
    await expect.poll(health).toMatchObject({ runs: 0 });
    expect(await say(one, { type: 'NOTE', text: '' })).toEqual(CHANGED);
    expect(await say(one, { type: 'NOTE', text: '' })).toMatchObject([429, { code: 'too_many_events' }]);
    for await (const _ of states(two)) {
      expect((await post('/machines/order', {})).status).toBe(429);
      break;
    }
  });
});

describe('what clients send', () => {
  it('is checked by schemas, and what they see is the view', async () => {
    const host = ordersIn(memoryJournals());
    const { get, post, ...served } = await serveUntilEnd({
      machines: {
        order: {
          host,
          input: z.object({ amount: z.number().positive() }),
          events: { NOTE: z.object({ text: z.string() }), PAY: z.object({}), 'approval.given': z.looseObject({}) },
          view: ({ context }) => ({ amount: context.amount, at: new Date(0) }),
        },
      },
    });
    const { say, begin, state, states } = actorsOf({ get, post });
    const invalid = await post('/machines/order', { input: { amount: 0 } });
    expect([invalid.status, await invalid.json()]).toMatchObject([
      400,
      { code: 'invalid_request', message: expect.stringContaining('input.amount: ') },
    ]);
    const id = await begin({ amount: 3 });
    expect((await state(id)).context).toEqual({ amount: 3, at: '1970-01-01T00:00:00.000Z' });
    for await (const { state: streamed } of states(id)) {
      expect(streamed).toEqual(await state(id));
      break;
    }
    expect(await say(id, { type: 'NOTE', text: 1 })).toMatchObject([
      400,
      { message: expect.stringContaining('event.text: ') },
    ]);
    for (const type of ['CANCEL', 'toString', 'xstate.stop', 'xstate.done.actor.ask'])
      expect(await say(id, { type })).toMatchObject([400, { code: 'invalid_request' }]);
    // No schema lets a client name who answers.
    const forged = { type: 'approval.given', id: 'a', digest: 'd', decision: 'approve', by: 'mallory' };
    expect(await say(id, forged)).toMatchObject([400, { code: 'invalid_request' }]);
    // The schema removes other members.
    expect(await say(id, { type: 'NOTE', text: 'a', actor: 'x' })).toEqual(CHANGED);
    const document = (await (await get('/openapi.json')).json()) as { paths: Record<string, { post?: object }> };
    const described = JSON.stringify(document.paths['/machines/order/{id}/events']?.post);
    expect(described).toContain('{"const":"NOTE"}');
    expect(described).toContain('"text":{"type":"string"}');
    expect(Object.keys(document.paths)).toEqual([
      '/healthz',
      '/openapi.json',
      '/machines/order',
      '/machines/order/{id}',
      '/machines/order/{id}/events',
      '/machines/order/{id}/stop',
    ]);
    expect((await served.direct.get('/runs')).status).toBe(404);
  });

  it('is any event without a schema, except those of XState', async () => {
    const { begin, say, post } = await serveOrders();
    const id = await begin();
    expect(await say(id, { type: 'xstate.stop' })).toMatchObject([400, { code: 'invalid_request' }]);
    expect(await say(id, { kind: 'NOTE' })).toMatchObject([400, { code: 'invalid_request' }]);
    // XState would fail for the first one, and would keep the second one in memory.
    for (const type of ['*', 'x'.repeat(201)]) expect((await say(id, { type }))[0]).toBe(400);
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
    for (const [path, body] of [
      ['', `{"input":${deep}}`],
      [`/${id}/events`, `{"type":"NOTE","text":${deep}}`],
    ])
      expect((await post(`/machines/order${path}`, body)).status).toBe(400);
    expect(await say(id, { type: 'PAY' })).toEqual(CHANGED);
    expect((await post('/machines/order', { amount: 1 })).status).toBe(400);
    expect((await post('/machines/other', {})).status).toBe(404);
  });
});

describe('several processes', () => {
  it.each(['file', ...(hasPostgres ? ['postgres'] : [])])(
    'serve one store: one sends, and the other one streams (%s)',
    async (kind) => {
      const postgres = kind === 'postgres' ? await startPostgres() : null;
      onTestFinished(() => postgres?.stop());
      const place = (await postgres?.newSchema()) ?? temporaryFolder();
      const [here, there] = [await servingNotes(kind, place), await servingNotes(kind, place)];
      const id = await there.begin();
      const notes: unknown[] = [];
      for await (const { state } of here.states(id)) {
        notes.push(state.context);
        if (notes.length === 1) expect(await there.say(id, { type: 'NOTE', text: 'a' })).toEqual(CHANGED);
        // The other process leaves the actor when it only waits.
        if (notes.length === 2)
          await expect.poll(() => here.say(id, { type: 'CLOSE' }), { timeout: 5_000 }).toEqual(CHANGED);
      }
      expect(notes).toEqual([{ notes: [] }, { notes: ['a'] }, { notes: ['a'] }]);
      expect(await there.state(id)).toMatchObject({ status: 'done', value: 'closed' });
    },
  );

  it('continue an actor whose process was killed during a call', async () => {
    const journals = memoryJournals();
    const killed = ordersIn(journals, () => new Promise(() => {}));
    const actor = killed.start('o-1', { product: { owner: 'alice' } });
    await actor.send({ type: 'PAY' });
    const [{ id, digest } = { id: '', digest: '' }] = actor.pending.approvals;
    await actor.send({ type: 'approval.given', id, digest, decision: 'approve' });
    await actor.close();
    const { state } = await serveOrders({ journals });
    await expect.poll(() => state('o-1')).toMatchObject({ value: 'paid', context: { receipt: 'r-1' } });
  });

  it('store an event for the process that executes the actor', async () => {
    const journals = memoryJournals();
    const other = ordersIn(journals);
    const { say, state } = await serveOrders({ journals });
    const actor = other.start('o-1', { product: { owner: 'alice' } });
    expect(await say('o-1', { type: 'PAY' })).toEqual(CHANGED);
    await expect.poll(() => actor.pending.approvals).toHaveLength(1);
    await actor.close();
    expect((await state('o-1')).pending.approvals).toHaveLength(1);
  });

  it('get `actor_busy` while another one executes the actor, in a store without messages', async () => {
    const { mail: _, ...journals } = memoryJournals();
    const other = ordersIn(journals);
    const { say, state } = await serveOrders({ journals });
    const actor = other.start('o-1', { product: { owner: 'alice' } });
    expect(await state('o-1')).toMatchObject({ value: 'open' });
    expect(await say('o-1', { type: 'PAY' })).toMatchObject([409, { code: 'actor_busy' }]);
    await actor.close();
    expect(await say('o-1', { type: 'PAY' })).toEqual(CHANGED);
  });
});

describe('an operator', () => {
  it('gets `invalid_option` for invalid machines', async () => {
    const host = ordersIn(memoryJournals());
    const { follow: _, ...unfollowable } = memoryJournals();
    for (const [machines, message] of [
      [undefined, 'chain: expected a chain, or durable machines as "machines" or "agents"; received none.'],
      [{ 'a/b': host }, 'machines: expected names of letters, digits'],
      [{ order: orderMachine() }, 'machines.order: expected a durable machine, or { host, events, input, view }'],
      [
        { order: { host, event: {} } },
        'machines.order.event: unknown option; expected one of host, events, input, view',
      ],
      [{ order: { host, input: {} } }, 'machines.order: expected a durable machine, or {'],
      [{ order: ordersIn(unfollowable as never) }, 'machines.order: expected a durable machine with a journal store'],
    ] as const) {
      const error = await createServer({ machines, authorize: bearerTokens({ [ALICE]: 'alice' }) } as never).then(
        () => null,
        (thrown: PostChainError) => thrown,
      );
      expect([error?.code, error?.message]).toEqual(['invalid_option', expect.stringContaining(message)]);
    }
  });

  it('gets an OpenAPI document with each route of the app', async () => {
    const host = ordersIn(memoryJournals());
    const { get } = await startServer({ machines: { order: host }, exposeJournal: true });
    const { paths } = (await (await get('/openapi.json')).json()) as { paths: Record<string, Record<string, object>> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ at: `${method} ${path}`, operation })),
    );
    for (const { at, operation } of operations)
      expect(operation, at).toMatchObject({ summary: expect.any(String), responses: expect.any(Object) });
    expect(operations).toHaveLength(27);
    for (const path of ['/runs', '/machines/order'])
      expect(paths[path]?.['post'], path).toMatchObject({ responses: { 200: {}, 201: {}, default: {} } });
  });
});
