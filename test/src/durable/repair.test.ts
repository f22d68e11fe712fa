import { describe, expect, it } from 'vitest';
import { assign, fromCallback, fromPromise, setup } from 'xstate';
import { createDurableMachine } from '../../../src/durable/durable-machine.ts';
import { entriesOf, KEYFRAME_EVERY } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { recordOnce } from '../../../src/durable/recorded-values.ts';
import { writeJournal } from '../../support/journal-files.ts';
import { TestClock } from '../../support/simulated-clock.ts';

/** A machine whose call `charge` and effect `notify` do what a test says. */
function orders({
  journals = memoryJournals(),
  clock = new TestClock(),
  charge = async (): Promise<string> => 'receipt',
  notify = () => {},
  price = (text: string) => Number(text),
  canCancel = false,
} = {}) {
  const machine = setup({
    types: {
      context: {} as { readonly receipt: string; readonly total: number },
      events: {} as { readonly type: 'PAY' | 'SHIP' | 'CANCEL' } | { readonly type: 'ADD'; readonly price: string },
    },
    actors: {
      charge: fromPromise(charge),
      scan: fromCallback(() => {
        throw new Error('no scanner');
      }),
    },
    actions: { notify },
  }).createMachine({
    id: 'order',
    context: { receipt: '', total: 0 },
    initial: 'open',
    states: {
      open: {
        on: {
          ADD: { actions: assign({ total: ({ context, event }) => context.total + price(event.price) }) },
          PAY: 'paying',
          SHIP: 'scanning',
          ...(canCancel && { CANCEL: 'sent' }),
        },
      },
      paying: {
        invoke: {
          src: 'charge',
          onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
        },
      },
      scanning: { invoke: { src: 'scan' } },
      paid: { entry: 'notify', on: { SHIP: 'sent' } },
      sent: { type: 'final' },
    },
  });
  return createDurableMachine(machine, { journals, clock, logger: () => {} });
}

const noPrice = (): number => {
  throw new Error('no price');
};

/** Fails the first calls. */
function failing(times: number) {
  let calls = 0;
  const charge = async (): Promise<string> => {
    calls += 1;
    if (calls <= times) throw new Error(`card refused ${calls}`);
    return 'receipt';
  };
  return { charge, calls: () => calls };
}

async function failed(host: ReturnType<typeof orders>, id: string): Promise<void> {
  await host.open(id);
  await host.send(id, { type: 'PAY' });
  const actor = await host.open(id);
  await expect(actor.output).rejects.toThrow();
}

describe('retry', () => {
  it('runs a call that failed again, and the actor goes on from its result', async () => {
    const { charge, calls } = failing(2);
    const host = orders({ charge });
    await failed(host, 'o');
    expect(await host.list()).toMatchObject([{ status: 'error', reason: 'card refused 1' }]);
    await host.retry('o');
    expect(await host.list()).toMatchObject([{ status: 'error', reason: 'card refused 2' }]);
    await host.retry('o');
    expect(calls()).toBe(3);
    expect(await host.list()).toMatchObject([{ status: 'waiting', reason: null }]);
    const { snapshot } = await host.query('o');
    expect(snapshot.value).toBe('paid');
    expect(snapshot.context.receipt).toBe('receipt');
    expect((await host.replay('o')).divergence).toBeNull();
    await host.send('o', { type: 'SHIP' });
    expect(await host.list()).toMatchObject([{ status: 'done' }]);
  });

  it('repairs an actor with keyframes that failed on an earlier build of its machine', async () => {
    const journals = memoryJournals();
    const { charge } = failing(1);
    for (const [id, event] of [
      ['event', { type: 'ADD', price: '?' }],
      ['call', { type: 'PAY' }],
    ] as const) {
      const actor = await orders({ journals, charge, price: (text) => (text === '?' ? noPrice() : 1) }).open(id);
      for (let count = 0; count < 1.2 * KEYFRAME_EVERY; count += 1) await actor.send({ type: 'ADD', price: '1' });
      await actor.send(event);
      await expect(actor.output).rejects.toThrow();
    }
    const fixed = orders({ journals, canCancel: true, price: () => 1 });
    await fixed.retry('event');
    await fixed.retry('call');
    expect((await fixed.query('event')).snapshot.context.total).toBe(1.2 * KEYFRAME_EVERY + 1);
    expect((await fixed.query('call')).snapshot.value).toBe('paid');
  });

  it('replies to an event that was processed again, and not at all to one that was skipped', async () => {
    const journals = memoryJournals();
    const send = (host: ReturnType<typeof orders>, id: string) =>
      host.send(id, { type: 'ADD', price: '4' }, { id: 'e-1', reply: true });
    for (const id of ['retried', 'skipped']) {
      await (await orders({ journals, price: noPrice }).open(id)).close();
      await orders({ journals, price: noPrice }).send(id, { type: 'ADD', price: '4' }, { id: 'e-1' });
    }
    const fixed = orders({ journals });
    await fixed.retry('retried');
    expect((await send(fixed, 'retried')).snapshot.context.total).toBe(4);
    await fixed.skip('skipped');
    expect((await fixed.query('skipped')).snapshot.context.total).toBe(0);
    expect((await send(fixed, 'skipped')).snapshot.context.total).toBe(4);
    expect((await send(fixed, 'skipped')).snapshot.context.total).toBe(4);
  });

  it('is refused while this process repairs the actor already', async () => {
    const host = orders(failing(1));
    await failed(host, 'o');
    const [one, other] = await Promise.allSettled([host.retry('o'), host.retry('o')]);
    expect([one.status, Object(other).reason.code]).toEqual(['fulfilled', 'not_repairable']);
  });

  it('reuses in forks only the results that were not withdrawn', async () => {
    const host = orders(failing(1));
    await failed(host, 'o');
    await host.retry('o');
    const keyOf = ({ source }: { readonly source: string }) => source;
    const event = { type: 'PAY' } as const;
    const fork = await host.fork('o', { at: 0, id: 'f', event, reuse: { keyOf, onMissing: () => {} } });
    await fork.park({ wait: true });
    expect((await host.query('f')).snapshot).toMatchObject({ value: 'paid', context: { receipt: 'receipt' } });
  });

  it('leaves out of forks with another input what was withdrawn', async () => {
    const journals = memoryJournals();
    const priced = (price: number, then: () => number) =>
      orders({ journals, price: () => Number(recordOnce('price', () => price)) + then() });
    const broken = priced(1, noPrice);
    await broken.open('o');
    await broken.send('o', { type: 'ADD', price: '' });
    const host = priced(20, () => 0);
    await host.retry('o');
    const fork = await host.fork('o', { at: (await entriesOf(journals.read('o'))).length - 1, id: 'f', input: {} });
    expect(fork.getSnapshot().context.total).toBe(20);
    expect(fork.entries.some(({ type }) => type === 'retried')).toBe(false);
  });

  it('survives the end of the process right after it was stored, and forks and steps read it', async () => {
    const journals = memoryJournals();
    await failed(orders({ journals, ...failing(1) }), 'o');
    const [preview] = await orders({ journals }).repair('retry');
    expect(preview).toEqual({ id: 'o', problem: null });
    const host = orders({ journals, charge: async () => 'later' });
    expect(await host.list()).toMatchObject([{ status: 'interrupted' }]);
    expect(await host.wake()).toEqual(['o']);
    expect((await host.query('o')).snapshot.context.receipt).toBe('later');
    const entries = await entriesOf(journals.read('o'));
    const steps = [...host.replaySteps(entries)].map(({ snapshot }) => snapshot.value);
    expect(steps).toEqual(['open', 'paying', 'paying', 'paid']);
    const fork = await host.fork('o', { at: entries.length - 1, id: 'f' });
    expect([fork.getSnapshot().value, fork.getSnapshot().context.receipt]).toEqual(['paid', 'later']);
    const followed: string[] = [];
    await host.send('o', { type: 'SHIP' });
    for await (const { type } of journals.follow('o')) followed.push(type);
    expect(followed.filter((type) => type === 'end' || type === 'retried')).toEqual(['end', 'retried', 'end']);
  });

  it('processes an event again whose processing threw, with the machine as it is now', async () => {
    const journals = memoryJournals();
    const broken = orders({
      journals,
      price: () => {
        throw new Error('no price');
      },
    });
    await broken.open('o');
    await broken.send('o', { type: 'ADD', price: '4' }, { id: 'e-1' });
    await expect(broken.retry('o')).rejects.toMatchObject({
      code: 'not_repairable',
      message: 'actor o: it fails again: no price',
    });
    const fixed = orders({ journals });
    await fixed.retry('o');
    expect((await fixed.query('o')).snapshot).toMatchObject({ value: 'open', context: { total: 4 } });
    expect(await fixed.send('o', { type: 'ADD', price: '4' }, { id: 'e-1' })).toBe(false);
    expect((await fixed.replay('o')).divergence).toBeNull();
  });

  it('executes an effect again that has thrown', async () => {
    const notified: string[] = [];
    const notify = (): void => {
      notified.push('try');
      if (notified.length === 1) throw new Error('mail is down');
    };
    const host = orders({ notify });
    await failed(host, 'o');
    await host.retry('o');
    expect(notified).toEqual(['try', 'try']);
    expect((await host.query('o')).snapshot.value).toBe('paid');
    expect((await host.replay('o')).divergence).toBeNull();
  });

  it('executes all effects again that have thrown, but none that has not', async () => {
    const log: string[] = [];
    let isDown = true;
    const told = (name: string) => () => {
      log.push(name);
      if (isDown && name !== 'shop') throw new Error('mail is down');
    };
    const machine = setup({
      actions: { tellCustomer: told('customer'), tellShop: told('shop'), tellStock: told('stock') },
    }).createMachine({
      id: 'notice',
      initial: 'open',
      states: { open: { on: { GO: 'told' } }, told: { entry: ['tellCustomer', 'tellShop', 'tellStock'] } },
    });
    const host = createDurableMachine(machine, {
      journals: memoryJournals(),
      clock: new TestClock(),
      logger: () => {},
    });
    await host.open('n');
    await host.send('n', { type: 'GO' });
    isDown = false;
    await host.retry('n');
    await (await host.open('n')).park();
    expect(log).toEqual(['customer', 'shop', 'stock', 'customer', 'stock']);
    expect(await host.list()).toMatchObject([{ status: 'waiting' }]);
    expect((await host.replay('n')).divergence).toBeNull();
  });

  it('refuses actors that have not failed, and names those that do not exist', async () => {
    const host = orders();
    const actor = await host.open('o');
    await expect(host.retry('o')).rejects.toMatchObject({ code: 'not_repairable' });
    await actor.stop();
    await expect(host.retry('o')).rejects.toThrow('it has not failed: its status is "stopped"');
    await expect(host.retry('none')).rejects.toMatchObject({ code: 'unknown_journal' });
  });

  it('refuses a step that has already executed an action', async () => {
    const machine = setup({
      actions: {
        notify: () => {},
        fail: assign(() => {
          throw new Error('no stock');
        }),
      },
    }).createMachine({
      id: 'stock',
      initial: 'open',
      states: {
        open: { on: { GO: 'told' } },
        told: { entry: 'notify', always: { target: 'gone', actions: 'fail' } },
        gone: {},
      },
    });
    const host = createDurableMachine(machine, {
      journals: memoryJournals(),
      clock: new TestClock(),
      logger: () => {},
    });
    await host.open('s');
    await host.send('s', { type: 'GO' });
    await expect(host.retry('s')).rejects.toThrow('has executed the action "notify"');
  });

  it('goes on after a kill at every entry', async () => {
    const journals = memoryJournals();
    const host = orders({ journals, ...failing(1) });
    await failed(host, 'o');
    await host.retry('o');
    const entries = await entriesOf(journals.read('o'));
    const from = entries.findIndex(({ type }) => type === 'retried');
    expect(from).toBeGreaterThan(0);
    for (let length = from; length <= entries.length; length += 1) {
      const id = `killed-${length}`;
      await writeJournal(journals, id, entries.slice(0, length));
      const other = orders({ journals });
      if (length === from) await other.retry(id);
      else await other.wake();
      expect([length, (await other.query(id)).snapshot.value]).toEqual([length, 'paid']);
      expect((await other.replay(id)).divergence).toBeNull();
    }
  });
});

describe('skip', () => {
  it('gives a call that failed a result instead of running it', async () => {
    const { charge, calls } = failing(9);
    const host = orders({ charge });
    await failed(host, 'o');
    await host.skip('o', { output: 'paid by hand' });
    expect(calls()).toBe(1);
    expect((await host.query('o')).snapshot).toMatchObject({ value: 'paid', context: { receipt: 'paid by hand' } });
    expect((await host.replay('o')).divergence).toBeNull();
  });

  it('gives a call that threw when it started a result', async () => {
    const host = orders({
      charge: () => {
        throw new Error('not even started');
      },
    });
    await failed(host, 'o');
    await host.skip('o', { output: 'by hand' });
    expect((await host.query('o')).snapshot.value).toBe('paid');
  });

  it('leaves out an event whose processing threw', async () => {
    const host = orders({
      price: (text) => {
        if (text === '?') throw new Error('no price');
        return Number(text);
      },
    });
    await host.open('o');
    await host.send('o', { type: 'ADD', price: '4' });
    await host.send('o', { type: 'ADD', price: '?' });
    await host.skip('o');
    await host.send('o', { type: 'ADD', price: '5' });
    expect((await host.query('o')).snapshot).toMatchObject({ value: 'open', context: { total: 9 } });
    expect((await host.replay('o')).divergence).toBeNull();
  });

  it('leaves out an effect that has thrown', async () => {
    const notify = (): void => {
      throw new Error('mail is down');
    };
    const host = orders({ notify });
    await failed(host, 'o');
    await host.skip('o');
    expect((await host.query('o')).snapshot.value).toBe('paid');
    expect((await host.replay('o')).divergence).toBeNull();
  });

  it('refuses a call that has no result', async () => {
    const host = orders();
    await host.open('o');
    await host.send('o', { type: 'SHIP' });
    await expect(host.skip('o')).rejects.toMatchObject({
      code: 'not_repairable',
      message: expect.stringContaining('"scan" is neither a promise nor an observable'),
    });
  });
});

describe('repair', () => {
  it('shows in a dry run what it would do, and stores nothing', async () => {
    const { charge, calls } = failing(2);
    const host = orders({ charge });
    for (const id of ['a', 'b']) await failed(host, id);
    const before = await host.list();
    expect(await host.repair('retry', { dryRun: true })).toEqual([
      { id: 'a', problem: null },
      { id: 'b', problem: null },
    ]);
    expect(await host.list()).toEqual(before);
    expect(await host.repair('retry', { limit: 1 })).toEqual([{ id: 'a', problem: null }]);
    expect(calls()).toBe(2);
    expect(await host.wake()).toEqual(['a']);
    expect((await host.list()).map(({ id, status }) => [id, status])).toEqual([
      ['a', 'waiting'],
      ['b', 'error'],
    ]);
  });

  it('stops all actors that match, also one that another process holds', async () => {
    const journals = memoryJournals();
    const host = orders({ journals });
    await (await host.open('a')).park();
    const held = await orders({ journals }).open('b');
    for (const dryRun of [true, false])
      expect(await host.repair('stop', { dryRun })).toEqual([
        { id: 'a', problem: null },
        { id: 'b', problem: null },
      ]);
    await expect(held.output).rejects.toThrow('was stopped');
    await held.close();
    expect((await host.list()).map(({ status }) => status)).toEqual(['stopped', 'stopped']);
  });

  it('says why it does not repair an actor that it was given', async () => {
    const host = orders(failing(1));
    await failed(host, 'a');
    await (await host.open('b')).park();
    expect(await host.repair('retry', { ids: ['a', 'b'], dryRun: true })).toEqual([
      { id: 'a', problem: null },
      { id: 'b', problem: 'actor b: it has not failed.' },
    ]);
    expect(await host.repair('release', { ids: ['b'] })).toEqual([
      { id: 'b', problem: 'actor b: it is not quarantined.' },
    ]);
    expect(await host.repair('stop', { ids: ['a'] })).toEqual([{ id: 'a', problem: 'actor a: it has already ended.' }]);
  });

  it('refuses an unknown action', async () => {
    await expect(orders().repair('restart' as 'retry')).rejects.toMatchObject({ code: 'invalid_option' });
  });
});
