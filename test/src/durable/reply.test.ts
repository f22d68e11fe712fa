import { describe, expect, expectTypeOf, it } from 'vitest';
import { assign, emit, fromPromise, setup } from 'xstate';
import { approval } from '../../../src/durable/approval.ts';
import { createDurableMachine } from '../../../src/durable/durable-machine.ts';
import { defineGuard } from '../../../src/durable/guards.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';

const cart = setup({
  types: {
    context: {} as { readonly items: readonly string[] },
    events: {} as { readonly type: 'ADD'; readonly item: string } | { readonly type: 'ASK' | 'PAY' | 'CLOSE' },
    emitted: {} as { readonly type: 'added'; readonly count: number },
  },
  actors: { approval, pay: fromPromise(async () => 'paid') },
  guards: { hasItems: defineGuard(({ context }) => ({ holds: context['items'].length > 0 })) },
}).createMachine({
  id: 'cart',
  context: { items: [] },
  initial: 'open',
  states: {
    open: {
      on: {
        ADD: {
          actions: [
            assign({ items: ({ context, event }) => [...context.items, event.item] }),
            emit(({ context }) => ({ type: 'added', count: context.items.length })),
          ],
        },
        ASK: 'asking',
        PAY: { guard: 'hasItems', target: 'paying' },
        CLOSE: 'closed',
      },
    },
    asking: { invoke: { src: 'approval', input: { question: 'ok?' }, onDone: 'open' } },
    paying: { invoke: { src: 'pay', onDone: 'open' } },
    closed: { type: 'final' },
  },
});

async function opened() {
  const carts = createDurableMachine(cart, { journals: memoryJournals() });
  await (await carts.open('c')).park();
  return carts;
}

describe('a reply', () => {
  it('is the snapshot after the step, what it waits for, and what the actor emitted', async () => {
    const carts = await opened();
    const reply = await carts.send('c', { type: 'ADD', item: 'tea' }, { reply: true });
    expectTypeOf(reply.emitted).toEqualTypeOf<readonly { readonly type: 'added'; readonly count: number }[]>();
    expect(reply.emitted).toEqual([{ type: 'added', count: 1 }]);
    expect(reply.snapshot.context).toEqual({ items: ['tea'] });
    expect(reply.pending.events).toEqual(['ADD', 'ASK', 'PAY', 'CLOSE']);
    const paying = await carts.send('c', { type: 'PAY' }, { reply: true });
    expect(paying.snapshot.value).toBe('paying');
    expect(paying.pending.activities).toMatchObject([{ source: 'pay' }]);
  });

  it('to an event that was sent before is the same again, even after other events', async () => {
    const carts = await opened();
    const first = await carts.send('c', { type: 'ADD', item: 'tea' }, { id: '1', reply: true });
    await carts.send('c', { type: 'ADD', item: 'milk' }, { id: '2' });
    await carts.send('c', { type: 'CLOSE' });
    const again = await carts.send('c', { type: 'ADD', item: 'tea' }, { id: '1', reply: true });
    expect(again.emitted).toEqual(first.emitted);
    expect(again.snapshot.context).toEqual({ items: ['tea'] });
    expect(again.snapshot.value).toBe('open');
    expect((await carts.query('c')).snapshot.context.items).toEqual(['tea', 'milk']);
  });

  it('is the decision of an approval', async () => {
    const carts = await opened();
    const { pending } = await carts.send('c', { type: 'ASK' }, { reply: true });
    const [{ id, digest } = { id: '', digest: '' }] = pending.approvals;
    const answer = { type: 'approval.given', id, digest, decision: 'approve' } as const;
    expect((await carts.send('c', answer, { reply: true })).snapshot.value).toBe('open');
    await expect(carts.send('c', answer, { reply: true })).rejects.toMatchObject({
      code: 'event_ignored',
      message:
        'actor c: the event "approval.given" changed nothing, because the actor has ended or the approval is not open.',
    });
  });

  it('is an error that names the guards and the accepted events if no transition was taken', async () => {
    const carts = await opened();
    await expect(carts.send('c', { type: 'PAY' }, { reply: true })).rejects.toMatchObject({
      code: 'event_ignored',
      message:
        'actor c: the event "PAY" was ignored in "open", because hasItems did not hold; the actor accepts ADD, ASK, PAY, CLOSE.',
    });
    await carts.send('c', { type: 'ADD', item: 'tea' });
    await carts.send('c', { type: 'ASK' });
    await expect(carts.send('c', { type: 'PAY' }, { reply: true })).rejects.toThrow(
      'the event "PAY" was ignored in "asking"; the actor accepts no events.',
    );
    await expect(carts.send('none', { type: 'PAY' }, { reply: true })).rejects.toMatchObject({
      code: 'unknown_journal',
    });
  });
});
