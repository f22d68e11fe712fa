import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import { createDurableMachine, fileJournals, memoryJournals, sqliteJournals } from '../../dist/durable.js';
import { temporaryFolder } from '../temporary-folder.mjs';
import { eventAt, machine } from './machine.mjs';

const folder = temporaryFolder();

/** @type {Readonly<Record<string, () => import('../../dist/durable.js').DurableMachineOptions['journals'] & { close?(): void }>>} */
const STORES = {
  none: memoryJournals,
  SQLite: () => sqliteJournals(join(folder, `${crypto.randomUUID()}.db`)),
  files: () => fileJournals(join(folder, crypto.randomUUID())),
};

/**
 * Measures microseconds per event of durable actors, each of which sends its next event when the last one is stored.
 *
 * @param {{ events: number, actors: number, store: string }} options
 */
export async function measure({ events, actors, store }) {
  const journals = /** @type {(typeof STORES)[string]} */ (STORES[store])();
  const orders = createDurableMachine(machine, { journals });
  const opened = await Promise.all(Array.from({ length: actors }, (_, number) => orders.open(`order-${number}`)));
  const startedAt = performance.now();
  await Promise.all(
    opened.map(async (actor) => {
      for (let at = 0; at < events; at += 1) await actor.send(eventAt(at));
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  for (const actor of opened) {
    assert.equal(actor.getSnapshot().context.lines, events);
    await actor.close();
  }
  let deliveries = 0;
  for await (const { type } of journals.read('order-0')) if (type === 'delivery') deliveries += 1;
  assert.equal(deliveries, events);
  journals.close?.();
  return { microseconds: (elapsedMs * 1_000) / (events * actors) };
}
