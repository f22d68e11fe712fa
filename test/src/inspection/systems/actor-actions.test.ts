import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { createMachine, fromPromise, setup } from 'xstate';
import * as z from 'zod';
import type { Clock } from '../../../../src/durable/clock.ts';
import type { DurableEntry } from '../../../../src/durable/entries.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { createDurableMachine, fileJournals, type Journals, memoryJournals } from '../../../../src/entries/durable.ts';
import type { InspectionOptions } from '../../../../src/inspection/inspection-server.ts';
import type { InspectedRun, RunAction } from '../../../../src/inspection/wire.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { openPage, startInspector, type TestPage } from '../../../support/inspection-server.ts';
import { order, past } from '../../../support/recorded-actors.ts';

const events = { approve: z.object({ note: z.string().min(2) }), ask: z.object({}) };

async function pageOf(options: InspectionOptions): Promise<TestPage> {
  return openPage((await startInspector(options)).url);
}

/** Waits until the row of an actor fits. */
async function row(page: TestPage, runId: string, fits: (run: InspectedRun) => boolean): Promise<InspectedRun> {
  const { runs } = await page.runs((list) => list.runs.some((run) => run.runId === runId && fits(run)));
  return runs.find((run) => run.runId === runId) as InspectedRun;
}

const act = (page: TestPage, runId: string, action: RunAction) =>
  page.request({ type: 'act', runId, action, confirmed: null });

const send = (page: TestPage, runId: string, event: unknown) => page.request({ type: 'send', runId, event });

/** A parked order. */
async function storedOrder(journals: Journals = memoryJournals(), clock?: Clock) {
  const orders = createDurableMachine(order, { journals, logger: () => {} });
  const first = clock === undefined ? orders : createDurableMachine(order, { journals, clock });
  const actor = await first.open('o-1', { input: { amount: 40 } });
  await actor.park();
  return { orders, journals };
}

const typesIn = (entries: readonly DurableEntry[]): readonly string[] => entries.map(({ type }) => type);

describe('a page acts on a recorded actor whose machine the inspector has', () => {
  it('lists why an action of the machine failed it', async () => {
    const fail = () => {
      throw new Error('no paper');
    };
    const machine = createMachine({ id: 'printer', version: '1', on: { print: { actions: fail } } });
    const journals = fileJournals(temporaryFolder());
    const printers = createDurableMachine(machine, { journals, logger: () => {} });
    const printer = await printers.open('p-1');
    await printer.send({ type: 'print' }).catch(() => {});
    await printer.close();
    const page = await pageOf({ hosts: [printers] });
    await row(page, 'p-1', ({ status }) => status === 'degraded');
    const failed = await row(page, 'p-1', ({ ending }) => ending?.failure !== 'p-1 failed');
    expect(failed.ending?.failure).toBe('p-1 failed: no paper');
  });

  it('lists the failed call before the error of the action that failed it', async () => {
    const machine = setup({ actors: { charge: fromPromise(() => Promise.reject(new Error('card declined'))) } });
    const fail = () => {
      throw new Error('Charging failed');
    };
    const shop = machine.createMachine({
      id: 'shop',
      version: '1',
      initial: 'charging',
      states: { charging: { invoke: { src: 'charge', onError: 'failed' } }, failed: { entry: fail } },
    });
    const journals = fileJournals(temporaryFolder());
    const shops = createDurableMachine(shop, { journals, logger: () => {} });
    const actor = await shops.open('s-1');
    await actor.output.catch(() => {});
    await actor.close();
    const page = await pageOf({ hosts: [shops] });
    const failed = await row(page, 's-1', ({ ending }) => ending?.failure.includes('card') === true);
    expect(failed.ending?.failure).toBe('s-1 failed: Charging failed (charge failed: card declined)');
  });

  it('sends it an event, and its calls continue until it ends', async () => {
    const { orders } = await storedOrder();
    const page = await pageOf({ hosts: [orders] });
    expect(await row(page, 'o-1', ({ status }) => status === 'waiting')).not.toHaveProperty('blocked');
    expect(await send(page, 'o-1', { type: 'approve' })).toEqual({ result: null, problem: null });
    expect(await row(page, 'o-1', ({ status }) => status === 'completed')).toMatchObject({
      ending: { states: 'paid' },
    });
    const late = await send(page, 'o-1', { type: 'approve' });
    expect(late.problem).toMatch(/^Nothing changed: the actor has ended/u);
  });

  it('checks an event against its schema, names the schemas to the page, and sends nothing invalid', async () => {
    const { orders, journals } = await storedOrder();
    const page = await pageOf({ hosts: [{ host: orders, events }] });
    const [hello] = page.all('hello');
    expect(hello?.machines?.['order']).toMatchObject({ approve: { properties: { note: { type: 'string' } } } });
    const before = await entriesOf(journals.read('o-1'));
    const problems = await Promise.all(
      [{ type: 'approve', note: '' }, { type: 'hang' }, { type: 'xstate.stop' }, 'approve', { type: 7 }].map(
        async (event) => (await send(page, 'o-1', event)).problem,
      ),
    );
    expect(problems).toEqual([
      expect.stringMatching(/^event\.note: /u),
      'type: expected one of approve, ask, approval.given; received "hang".',
      expect.stringMatching(/^type: expected a type that does not begin with "xstate\."/u),
      expect.stringMatching(/^event: /u),
      expect.stringMatching(/^type: /u),
    ]);
    expect(await entriesOf(journals.read('o-1'))).toEqual(before);
  });

  it('answers an approval in the name of the user of this computer, once', async () => {
    const { orders, journals } = await storedOrder();
    const page = await pageOf({ hosts: [orders] });
    await send(page, 'o-1', { type: 'ask' });
    const { waiting } = await row(page, 'o-1', ({ waiting }) => waiting?.approvals.length === 1);
    const [open] = waiting?.approvals ?? [];
    const answer = { type: 'approval.given', id: open?.id, digest: open?.digest, decision: 'approve', reason: 'fine' };
    expect((await send(page, 'o-1', { ...answer, by: 'somebody else' })).problem).toMatch(/by/u);
    expect(await send(page, 'o-1', answer)).toEqual({ result: null, problem: null });
    await row(page, 'o-1', ({ status }) => status === 'completed');
    const given = (await entriesOf(journals.read('o-1'))).flatMap((entry) =>
      entry.type === 'delivery' ? [entry.event] : [],
    );
    expect(given.at(-1)).toMatchObject({ type: 'approval.given', reason: 'fine', by: userInfo().username });
    expect((await send(page, 'o-1', answer)).problem).toMatch(/^Nothing changed/u);
  });

  it('answers an approval of an actor whose process was killed', async () => {
    const { orders, journals } = await storedOrder();
    await orders.send('o-1', { type: 'ask' });
    const entries = (await entriesOf(journals.read('o-1'))).filter(({ type }) => type !== 'closed');
    const killed = fileJournals(temporaryFolder());
    const writer = killed.create('o-1');
    writer.write(entries.map((entry, seq) => ({ ...entry, seq })));
    await writer.close();
    const page = await pageOf({ hosts: [createDurableMachine(order, { journals: killed, logger: () => {} })] });
    const { waiting, status } = await row(page, 'o-1', (run) => run.waiting?.approvals.length === 1);
    expect(status).toBe('interrupted');
    const [{ id, digest } = {}] = waiting?.approvals ?? [];
    await send(page, 'o-1', { type: 'approval.given', id, digest, decision: 'approve' });
    await row(page, 'o-1', (run) => run.status === 'completed');
  });

  it('stops it, and checks its replay', async () => {
    const { orders, journals } = await storedOrder();
    const page = await pageOf({ hosts: [orders] });
    await row(page, 'o-1', ({ status }) => status === 'waiting');
    expect((await act(page, 'o-1', { type: 'replay' })).result?.note).toMatch(/^Identical: /u);
    expect((await act(page, 'o-1', { type: 'stop' })).result?.note).toBe('');
    expect(await row(page, 'o-1', ({ status }) => status === 'cancelled')).not.toHaveProperty('waiting');
    expect(typesIn(await entriesOf(journals.read('o-1')))).toContain('stopped');
    expect((await act(page, 'o-1', { type: 'stop' })).result?.note).toMatch(/^Nothing changed/u);
    const changed = createDurableMachine(
      createMachine({ id: 'order', version: '1', initial: 'other', states: { other: {} } }),
      { journals },
    );
    const other = await pageOf({ hosts: [changed] });
    await row(other, 'o-1', ({ status }) => status === 'cancelled');
    expect((await act(other, 'o-1', { type: 'replay' })).result?.note).toMatch(
      /^Divergence at entry \d+: the journal has /u,
    );
  });

  it('stops one whose delay is due, and the delay does not fire', async () => {
    const { orders, journals } = await storedOrder(memoryJournals(), past);
    const page = await pageOf({ hosts: [orders] });
    await row(page, 'o-1', ({ status }) => status === 'waiting');
    const { length } = await entriesOf(journals.read('o-1'));
    expect((await act(page, 'o-1', { type: 'stop' })).result?.note).toBe('');
    const added = typesIn((await entriesOf(journals.read('o-1'))).slice(length));
    expect(added).toEqual(['resumed', 'stopped', 'end']);
  });

  it('forks it at an entry with an event, also after its end, without changing the original', async () => {
    const { orders, journals } = await storedOrder(fileJournals(temporaryFolder()));
    const page = await pageOf({ hosts: [orders] });
    await row(page, 'o-1', ({ status }) => status === 'waiting');
    await act(page, 'o-1', { type: 'stop' });
    const before = await entriesOf(journals.read('o-1'));
    const { result } = await act(page, 'o-1', { type: 'fork', at: 1, set: {}, event: { type: 'reject' } });
    const fork = await row(page, 'o-1-fork-1', ({ status }) => status === 'completed');
    expect(result?.runId).toBe('o-1-fork-1');
    expect(fork).toMatchObject({ forkedFrom: { runId: 'o-1' }, ending: { states: 'rejected' } });
    expect(await entriesOf(journals.read('o-1'))).toEqual(before);
    const ofRun = await act(page, 'o-1', { type: 'fork', at: 1, set: { 'limits.maxCycles': 2 } });
    expect(ofRun.problem).toBe('A fork of an actor accepts only "event" and "input"; received run settings.');
    const refused = await act(page, 'o-1', { type: 'fork', at: 1, set: {}, event: { type: 'xstate.stop' } });
    expect(refused.problem).toMatch(/^type: /u);
    const untyped = await act(page, 'o-1', { type: 'fork', at: 1, set: {}, event: { type: '' } });
    expect([untyped.problem, (await send(page, 'o-1', { type: '' })).problem].join()).toMatch(/type.*,.*type/su);
  });

  it('replies to an event at once, even if a call that it starts takes long', async () => {
    const { orders } = await storedOrder();
    const page = await pageOf({ hosts: [orders] });
    expect(await send(page, 'o-1', { type: 'hang' })).toEqual({ result: null, problem: null });
    expect(await row(page, 'o-1', ({ status }) => status === 'running')).not.toHaveProperty('blocked');
    expect((await act(page, 'o-1', { type: 'stop' })).result?.note).toBe('');
  });

  it('continues one that was interrupted', async () => {
    const journals = memoryJournals();
    const interrupted = createDurableMachine(order, { journals, logger: () => {} });
    const actor = await interrupted.open('o-1', { input: { amount: 40 } });
    await actor.send({ type: 'hang' });
    await actor.close();
    const page = await pageOf({ hosts: [createDurableMachine(order, { journals, logger: () => {} })] });
    await row(page, 'o-1', ({ status }) => status === 'interrupted');
    expect((await act(page, 'o-1', { type: 'resume' })).result?.note).toBe('Continued.');
    expect(await row(page, 'o-1', ({ status }) => status === 'running')).not.toHaveProperty('blocked');
    // Another page may offer it still.
    expect((await act(page, 'o-1', { type: 'resume' })).result?.note).toMatch(/^Nothing changed: .* running here\.$/u);
    await act(page, 'o-1', { type: 'stop' });
    expect((await act(page, 'o-1', { type: 'resume' })).result?.note).toMatch(/^Nothing changed: .* already ended\.$/u);
  });

  it('says that an actor which was deleted meanwhile is gone', async () => {
    const { orders } = await storedOrder();
    const page = await pageOf({ hosts: [orders] });
    await row(page, 'o-1', ({ status }) => status === 'waiting');
    await orders.delete('o-1');
    for (const type of ['resume', 'stop', 'replay'] as const)
      expect((await act(page, 'o-1', { type })).problem).toMatch(/^There is no /u);
  });
});

describe('a page that cannot act on an actor shows why and what to do', () => {
  it('if the inspector does not have its machine', async () => {
    const { journals } = await storedOrder();
    const page = await pageOf({ journals });
    const { blocked } = await row(page, 'o-1', ({ status }) => status === 'waiting');
    expect(blocked).toBe(
      'To act on this actor, start the inspector with the module that exports the machine "order": postchain inspect --module FILE.',
    );
    expect((await send(page, 'o-1', { type: 'approve' })).problem).toBe(blocked);
    expect((await act(page, 'o-1', { type: 'stop' })).problem).toBe(blocked);
  });

  it('if its machine uses another store, even with an actor of the same id', async () => {
    const { journals } = await storedOrder();
    const { orders } = await storedOrder();
    await orders.stop('o-1');
    await orders.delete('o-1');
    const page = await pageOf({ journals, hosts: [orders] });
    const { blocked } = await row(page, 'o-1', ({ status }) => status === 'waiting');
    expect(blocked).toMatch(/uses another store/u);
    expect((await send(page, 'o-1', { type: 'approve' })).problem).toBe(blocked);
  });

  it('if another process holds it, and its store keeps no messages', async () => {
    const { mail: _, ...withoutMail } = memoryJournals();
    const { orders, journals } = await storedOrder(withoutMail);
    await createDurableMachine(order, { journals, logger: () => {} }).open('o-1');
    const page = await pageOf({ hosts: [orders] });
    const { blocked } = await row(page, 'o-1', ({ status }) => status === 'running');
    expect(blocked).toMatch(/^Another process holds this actor, and its store keeps no messages\./u);
    const { problem } = await send(page, 'o-1', { type: 'approve' });
    expect(problem).toMatch(/still running in this process; act on the actor in that process, wait until/u);
    expect(problem).not.toContain('force');
  });

  it('but acts on one that another process holds with a message', async () => {
    const { orders, journals } = await storedOrder();
    const held = await createDurableMachine(order, { journals, logger: () => {} }).open('o-1');
    const page = await pageOf({ hosts: [orders] });
    expect((await row(page, 'o-1', ({ status }) => status === 'running')).blocked).toBeUndefined();
    expect((await send(page, 'o-1', { type: 'approve' })).problem).toBeNull();
    await expect.poll(() => held.entries.some(({ type }) => type === 'delivery')).toBe(true);
  });
});
