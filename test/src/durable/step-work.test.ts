import { expect, it, onTestFinished, vi } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { createDurableMachine } from '../../../src/entries/durable.ts';

const counter = setup({
  types: { context: {} as { lines: number; sizes: { s: number } }, events: {} as { type: 'add' } },
}).createMachine({
  context: { lines: 0, sizes: { s: 1 } },
  on: { add: { actions: assign({ lines: ({ context }) => context.lines + 1 }) } },
});

it('a step does no work for absent observers, remembers no contexts and checks no unchanged members', async () => {
  const actor = createDurableMachine(counter, { journals: memoryJournals() }).start('a');
  await actor.send({ type: 'add' });
  const remember = vi.spyOn(WeakSet.prototype, 'add');
  const look = vi.spyOn(WeakSet.prototype, 'has');
  const { random } = Math;
  let worlds = 0;
  let current = random;
  Object.defineProperty(Math, 'random', {
    configurable: true,
    get: () => current,
    set(next: typeof random) {
      worlds += 1;
      current = next;
    },
  });
  onTestFinished(() => {
    remember.mockRestore();
    look.mockRestore();
    Object.defineProperty(Math, 'random', { value: random, configurable: true, writable: true });
  });
  await actor.send({ type: 'add' });
  // Into the step and out of it.
  expect(worlds).toBe(2);
  expect(remember).not.toHaveBeenCalled();
  const { sizes } = actor.getSnapshot().context;
  expect(look.mock.calls.flat()).not.toContain(sizes);
  expect(actor.getSnapshot().context.lines).toBe(2);
});

it('copies the input of a call once, and gives the copy to the call', async () => {
  const list = [70, 71, 72];
  const received: unknown[] = [];
  const calling = setup({
    actors: { call: fromPromise(async ({ input }) => void received.push(input)) },
  }).createMachine({ invoke: { src: 'call', input: { list } } });
  const copies = vi.spyOn(Array.prototype, 'map');
  onTestFinished(() => void copies.mockRestore());
  createDurableMachine(calling, { journals: memoryJournals() }).start('a');
  await vi.waitFor(() => expect(received).toEqual([{ list }]));
  expect((received[0] as { list: unknown }).list).not.toBe(list);
  // Decoding would map the array.
  expect(copies.mock.contexts.filter((items) => Array.isArray(items) && items[0] === 70)).toEqual([]);
});
