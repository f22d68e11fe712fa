import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { ownBackend } from '../../../../examples/own-journals.ts';
import { entriesOf } from '../../../../src/durable/journals/journal-store.ts';
import { customJournals } from '../../../../src/durable/journals/line-store.ts';
import { createDurableMachine, createWorker } from '../../../../src/entries/durable.ts';
import { journalStoreChecks } from '../../../../src/testing/journal-store-checks.ts';
import { startServer, updatesIn } from '../../../support/chain-server.ts';
import { openPage, startInspector } from '../../../support/inspection-server.ts';
import { checkLists, storeActors } from '../../../support/listed-actors.ts';
import { recordedRun } from '../../../support/recorded-run.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const journal = await recordedRun();

it.each(journalStoreChecks({ open: () => customJournals(ownBackend()), journal }))(
  "a user's store: $name",
  async ({ check }) => expect([null, 'the store has no method "mail"']).toContain(await check()),
);

it('a backend that lacks a method is refused at once', () => {
  const { remove: _, ...backend } = ownBackend();
  expect(() => customJournals(backend as never)).toThrow('received one without "remove"');
});

it("a user's store lists the actors that match every option", async () => {
  const journals = customJournals(ownBackend());
  await storeActors(journals);
  await checkLists(journals);
});

it("a worker continues the actors in a user's store", async () => {
  const clock = new TestClock();
  const journals = customJournals(ownBackend());
  const machine = createMachine({
    id: 'order',
    initial: 'open',
    states: { open: { after: { 1000: 'expired' } }, expired: { type: 'final' } },
  });
  const orders = createDurableMachine(machine, { journals, clock });
  await (await orders.open('o-1')).park();
  const worker = createWorker({ hosts: [orders], clock });
  await worker.poll();
  expect((await orders.list())[0]?.status).toBe('waiting');
  clock.increment(1_000);
  await worker.poll();
  await worker.stop();
  expect((await orders.list({ status: 'done' })).map(({ id }) => id)).toEqual(['o-1']);
});

it('a server stores its runs there, and an inspector shows them as they grow, beside actors', async () => {
  const journals = customJournals(ownBackend());
  const orders = createDurableMachine(createMachine({ id: 'order', on: { GO: {} } }), { journals });
  const order = await orders.open('o-1');
  const page = await openPage((await startInspector({ journals })).url);
  await page.runs((list) => list.runs.length === 1);
  const server = await startServer({ chain: { journals } });
  const runId = await server.start();
  const types: string[] = [];
  for await (const { update } of updatesIn(
    await server.get(`/runs/${runId}/events`, { headers: { accept: 'text/event-stream' } }),
  ))
    types.push(update.type);
  expect(types).toContain('answer');
  const listed = (await (await server.get('/runs')).json()) as { runs: { runId: string }[] };
  expect(listed.runs.map((each) => each.runId)).toEqual([runId]);
  const { runs: shown } = await page.runs(
    (list) => list.runs.length === 2 && list.runs.some(({ status }) => status === 'completed' || status === 'degraded'),
  );
  expect(shown.map((each) => [each.runId, each.kind]).toSorted()).toEqual(
    [
      [runId, 'run'],
      ['o-1', 'system'],
    ].toSorted(),
  );
  page.say({ type: 'open', runId, from: 0 });
  expect((await page.end(runId)).problem).toBeNull();
  const stored = await entriesOf(journals.read(runId));
  expect(page.lines(runId)).toHaveLength(stored.length);
  await order.close();
});
