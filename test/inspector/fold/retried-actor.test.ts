import { describe, expect, it, vi } from 'vitest';
import { type AnyMachineSnapshot, assign, fromPromise, setup } from 'xstate';
import { activeStatesAt } from '../../../inspector/fold/active-states.ts';
import { reachedStates } from '../../../inspector/fold/reached.ts';
import { systemTrace } from '../../../inspector/fold/system-trace.ts';
import { systemWaits } from '../../../inspector/fold/system-waits.ts';
import { actorEntryWords } from '../../../src/chain/presentation/entry-words.ts';
import { createDurableMachine } from '../../../src/durable/durable-machine.ts';
import { entriesOf } from '../../../src/durable/journals/journal-store.ts';
import { memoryJournals } from '../../../src/durable/journals/memory-journals.ts';
import { foldedActor } from '../../support/inspector/inspected-runs.ts';

/** An actor that has failed: its call `charge`, the processing of `ADD` or `CHECK`, or the action `notify`. The next time they succeed if `recovers`. */
async function failedActor(type: 'PAY' | 'ADD' | 'CHECK' | 'NOTIFY', recovers = true) {
  let isUp = false;
  const requireUp = (): void => {
    if (!isUp) throw new Error('service is down');
  };
  const machine = setup({
    types: {
      context: {} as { receipt: string; items: number },
      events: {} as { type: 'PAY' | 'ADD' | 'CHECK' | 'NOTIFY' },
    },
    actors: {
      charge: fromPromise(async () => {
        requireUp();
        return 'receipt 7';
      }),
    },
    actions: { notify: requireUp },
  }).createMachine({
    id: 'order',
    context: { receipt: '', items: 0 },
    initial: 'cart',
    states: {
      cart: {
        on: {
          PAY: 'paying',
          CHECK: 'checking',
          NOTIFY: 'paid',
          ADD: {
            actions: assign({
              items: ({ context }) => {
                requireUp();
                return context.items + 1;
              },
            }),
          },
        },
      },
      checking: {
        always: {
          target: 'paid',
          actions: assign(() => {
            requireUp();
            return { items: 5 };
          }),
        },
      },
      paying: {
        invoke: {
          src: 'charge',
          onDone: { target: 'paid', actions: assign({ receipt: ({ event }) => event.output }) },
        },
      },
      paid: { entry: 'notify' },
    },
  });
  const host = createDurableMachine(machine, { journals: memoryJournals(), logger: () => {} });
  const actor = await host.open('o');
  await actor.send({ type }).catch(() => {});
  await actor.output.catch(() => {});
  isUp = recovers;
  return host;
}

type Host = Awaited<ReturnType<typeof failedActor>>;

/** What the page shows of the actor. */
async function pageOf(host: Host) {
  const entries = await entriesOf(host.journals.read('o'));
  const folded = foldedActor(entries, host);
  const count = folded.log.count;
  const rows = systemTrace({ ...folded, count, isOver: false });
  const { leaf } = activeStatesAt(folded.fold.transitions, folded.charts, count - 1);
  return {
    ...folded,
    entries,
    rows: rows.map(({ title, moves, note, text, status }) =>
      [title, moves, note, text, status === 'failed' && '(failed)'].filter(Boolean).join(' | '),
    ),
    because: reachedStates(folded, 'order', count - 1).map(({ path, because }) => `${path}, ${because}`),
    active: leaf['order'],
    context: Object(Object(folded.fold.states.at(count - 1))['']).context,
    root: folded.fold.actors.filter(({ path }) => path === ''),
  };
}

/** The states and the context that the page shows are those of a replay, and the actor has not ended. */
async function expectAsReplayed(host: Host, page: Awaited<ReturnType<typeof pageOf>>): Promise<void> {
  const { snapshot } = await host.replay('o');
  expect(page.active).toEqual([`order.${(snapshot as AnyMachineSnapshot).value}`]);
  expect(page.context).toEqual(snapshot.context);
  expect(page.root).toMatchObject([{ end: null }]);
}

describe('the history of a retried actor', () => {
  it('refers to the error before the retry if it failed again', async () => {
    const host = await failedActor('NOTIFY', false);
    await host.retry('o').catch(() => {});
    const entries = await vi.waitFor(async () => {
      const all = await entriesOf(host.journals.read('o'));
      expect(all.filter(({ type }) => type === 'end')).toHaveLength(2);
      return all;
    });
    const folded = foldedActor(entries, host);
    const rows = systemTrace({ ...folded, count: folded.log.count, isOver: true });
    expect(rows.flatMap(({ sameErrorAs }) => sameErrorAs ?? []).at(-1)).toBe('before the retry');
  });

  it('has the failed attempt of a call, its failure, the retry and the second attempt', async () => {
    const host = await failedActor('PAY');
    await host.retry('o');
    const page = await pageOf(host);
    expect(page.rows).toEqual([
      'Started | in cart',
      'PAY | cart → paying',
      'charge | call | service is down | (failed)',
      'Failed | service is down | (failed)',
      'Retried | charge',
      'charge | call, retry | "receipt 7"',
      'charge finished | paying → paid | receipt: "" → "receipt 7"',
      expect.stringContaining('notify'),
      'Parked | saved until an event or a timer continues it',
    ]);
    expect(page.because).toEqual(['paid, entered on charge finished, from paying']);
    await expectAsReplayed(host, page);
  });

  it('has the result that replaces that of a skipped call', async () => {
    const host = await failedActor('PAY');
    await host.skip('o', { output: 'by hand' });
    const page = await pageOf(host);
    expect(page.rows).toContain('Skipped | charge, with "by hand"');
    expect(page.rows.filter((row) => row.startsWith('charge |'))).toEqual([
      'charge | call | service is down | (failed)',
    ]);
    expect(page.because).toEqual(['paid, entered on charge finished, from paying']);
    await expectAsReplayed(host, page);
  });

  it('has a call in progress again, and what the actor then waits for, until the call has ended', async () => {
    const host = await failedActor('PAY');
    await host.repair('retry');
    const page = await pageOf(host);
    expect(page.rows.at(-1)).toBe('charge | call, retry');
    expect(systemWaits(page.fold, page.charts, page.entries.length - 1)).toMatchObject([
      { machine: 'order', actors: ['charge'] },
    ]);
    await expectAsReplayed(host, page);
  });

  it.each([
    ['ADD', 'Retried | ADD', 'ADD | stays in cart | items: 0 → 1'],
    ['CHECK', 'Retried | CHECK', 'CHECK | cart → checking → paid | items: 0 → 5'],
    ['NOTIFY', 'Retried | entry action of paid: notify', 'NOTIFY | cart → paid'],
  ] as const)('has an event or an action that failed, %s, in its state before and after', async (type, retry, step) => {
    const host = await failedActor(type);
    await host.retry('o');
    const page = await pageOf(host);
    expect(page.rows).toContain('Failed | service is down | (failed)');
    expect(page.rows).toContain(retry);
    expect(page.rows).toContain(step);
    await expectAsReplayed(host, page);
  });

  it('is without an event that was skipped', async () => {
    const host = await failedActor('CHECK');
    await host.skip('o');
    const page = await pageOf(host);
    expect(page.rows).toContain('Skipped | CHECK');
    expect(page.because).toEqual(['cart, the initial state']);
    await expectAsReplayed(host, page);
  });

  it('says why it was quarantined, and that it was released', async () => {
    const host = await failedActor('PAY');
    await host.retry('o');
    await host.quarantine('o', 'it ends its process');
    await host.release('o');
    const { rows, entries } = await pageOf(host);
    expect(rows.slice(-2)).toEqual(['Quarantined | it ends its process', 'Released | workers continue it again']);
    expect(entries.map(actorEntryWords)).toContain('Retried: the step of entry 4');
  });
});
