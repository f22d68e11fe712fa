import { useSelector } from '@xstate/react';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { approval, createDurableMachine, memoryJournals } from '../../../src/entries/durable.ts';
import {
  type RemoteActor,
  type RemoteSnapshot,
  remoteActor,
  startActor,
  useDurableActor,
} from '../../../src/entries/react.ts';
import { ALICE, BOB, serveUntilEnd } from '../../support/chain-server.ts';

interface Order {
  readonly amount: number;
}

/** Serves orders whose amount needs an approval, and starts one. */
async function startOrder() {
  const machine = setup({ types: { context: {} as Order, input: {} as Order }, actors: { approval } }).createMachine({
    id: 'order',
    context: ({ input }) => ({ amount: input.amount }),
    initial: 'open',
    states: {
      open: {
        on: {
          ADD: { actions: assign({ amount: ({ context }) => context.amount + 1 }) },
          PAY: 'asking',
          FAIL: 'failed',
        },
      },
      asking: {
        invoke: {
          src: 'approval',
          input: ({ context }) => ({ question: context.amount }),
          onDone: { target: 'paid', actions: assign({ amount: ({ event }) => Number(event.output.question) }) },
        },
      },
      failed: {
        entry: () => {
          throw new Error('out of stock');
        },
      },
      paid: { type: 'final' },
    },
  });
  const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
  const { url, health, disconnect } = await serveUntilEnd({ machines: { order: host } });
  const server = { url, token: ALICE };
  const id = await startActor(server, 'order', { amount: 1 }, 'one');
  expect(await startActor(server, 'order', { amount: 1 }, 'one')).toBe(id);
  return { server, id, health, disconnect, order: remoteActor<Order>(server, 'order', id) };
}

/** Subscribes, and returns what the observer receives. */
function observe(actor: RemoteActor<Order>) {
  const seen: unknown[] = [];
  const { unsubscribe } = actor.subscribe({
    next: (snapshot) => snapshot && seen.push(snapshot.context.amount),
    error: (error) => seen.push((error as { code?: string }).code),
    complete: () => seen.push('complete'),
  });
  return { seen, unsubscribe };
}

/** Renders a component with the hook of `@xstate/react`. */
const selected = (actor: RemoteActor<Order>): string =>
  renderToString(createElement(() => useSelector(actor, (snapshot) => String(snapshot?.context.amount))));

describe('a remote actor', () => {
  it('has the snapshots of its server while something subscribes, and then `useSelector` can select from them', async () => {
    const { order, health } = await startOrder();
    expect([order.getSnapshot(), selected(order)]).toEqual([null, 'undefined']);
    const { unsubscribe } = order.subscribe(() => {});
    await expect.poll(() => order.getSnapshot()?.context).toEqual({ amount: 1 });
    const { seen, unsubscribe: leave } = observe(order);
    expect(await order.send({ type: 'ADD' }, 'a')).toBe(true);
    expect(await order.send({ type: 'ADD' }, 'a')).toBe(false);
    await expect.poll(() => seen.at(-1)).toBe(2);
    expect(selected(order)).toBe('2');
    leave();
    leave();
    expect(await health()).toMatchObject({ streams: 1 });
    unsubscribe();
    await expect.poll(health).toMatchObject({ streams: 0 });
  });

  it('reconnects, answers an approval, and completes when the actor has ended', async () => {
    const { order, disconnect } = await startOrder();
    const { seen } = observe(order);
    await order.send({ type: 'PAY' });
    await expect.poll(() => order.getSnapshot()?.value).toBe('asking');
    disconnect();
    await expect.poll(() => order.getState().connection).toBe('connecting');
    expect(order.getSnapshot()?.value).toBe('asking');
    const [asked = expect.unreachable()] = order.getSnapshot()?.pending.approvals ?? [];
    expect(await order.answer(asked, { decision: 'approve', edited: 9 })).toBe(true);
    await expect.poll(() => seen.at(-1)).toBe('complete');
    expect(order.getState()).toMatchObject({ connection: 'closed', error: null, snapshot: { status: 'done' } });
    expect(order.getSnapshot()?.context).toEqual({ amount: 9 });
    expect(observe(order).seen).toEqual(['complete']);
    expect(await order.send({ type: 'ADD' })).toBe(false);
  });

  it('is stopped once, and is complete without a connection if its first snapshot is the last one', async () => {
    const { server, id, order, health } = await startOrder();
    const { seen, unsubscribe } = observe(order);
    expect([await order.stop(), await order.stop()]).toEqual([true, false]);
    await expect.poll(() => seen.at(-1)).toBe('complete');
    expect(order.getSnapshot()?.status).toBe('stopped');
    unsubscribe();
    await expect.poll(health).toMatchObject({ streams: 0 });
    const lost = { ...server, fetch: () => expect.unreachable() };
    const ended = remoteActor<Order>(lost, 'order', id, order.getSnapshot());
    expect(ended.getState()).toMatchObject({ connection: 'closed', snapshot: { status: 'stopped' } });
    for (let times = 0; times < 2; times += 1) {
      const observed = observe(ended);
      expect(observed.seen).toEqual(['complete']);
      observed.unsubscribe();
    }
  });

  it('throws the error of an actor that has failed where it is selected, as XState does', async () => {
    const { order } = await startOrder();
    const { seen } = observe(order);
    await order.send({ type: 'FAIL' });
    await expect.poll(() => seen.at(-1)).toBe('complete');
    expect(order.getSnapshot()).toMatchObject({ status: 'error', error: { name: 'Error', message: 'out of stock' } });
    expect(() => selected(order)).toThrow(expect.objectContaining({ message: 'out of stock' }));
  });

  it('reports a permanent error', async () => {
    const { server, id } = await startOrder();
    const foreign = remoteActor<Order>(() => ({ ...server, token: BOB }), 'order', id);
    const { seen } = observe(foreign);
    await expect.poll(() => seen.at(-1)).toBe('unknown_actor');
    expect(foreign.getState()).toMatchObject({ connection: 'closed', error: { status: 404 } });
    expect(observe(foreign).seen).toEqual(['unknown_actor']);
    await expect(foreign.send({ type: 'ADD' })).rejects.toMatchObject({ code: 'unknown_actor' });
  });
});

it('useDurableActor, rendered by a server, has the first snapshot that it is given, if it is that of its actor', () => {
  const rendered = (id: string | null, initial?: string): string => {
    const first = { id: initial, status: 'waiting', context: { amount: 7 } } as unknown as RemoteSnapshot<Order>;
    return renderToString(
      createElement(() => {
        const { snapshot, connection } = useDurableActor<Order>({ url: '' }, 'order', id, initial ? first : undefined);
        return `${connection}: ${snapshot?.context.amount}`;
      }),
    );
  };
  expect(rendered(null)).toBe('idle: undefined');
  expect(rendered('o-1')).toBe('connecting: undefined');
  expect(rendered('o-1', 'o-1')).toBe('connecting: 7');
  expect(rendered('o-1', 'o-2')).toBe('connecting: undefined');
});
