import { strict as assert } from 'node:assert';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { createActor } from 'xstate';
import { temporaryFolder } from '../temporary-folder.mjs';
import { eventAt, machine } from './machine.mjs';

/** @typedef {(id: string, snapshot: unknown) => void} Save */

/** @type {Readonly<Record<string, (folder: string) => Save>>} */
const STORES = {
  none: () => () => {},
  SQLite(folder) {
    const database = new Database(join(folder, `${crypto.randomUUID()}.db`));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL');
    database.exec('CREATE TABLE actor (id TEXT PRIMARY KEY, snapshot TEXT NOT NULL) STRICT');
    const statement = database.prepare(
      'INSERT INTO actor VALUES (?, ?) ON CONFLICT DO UPDATE SET snapshot = excluded.snapshot',
    );
    return (id, snapshot) => void statement.run([id, JSON.stringify(snapshot)]);
  },
  // A crash must leave the old snapshot or the new one.
  files: (folder) => (id, snapshot) => {
    const path = join(folder, `${id}.json`);
    writeFileSync(`${path}.new`, JSON.stringify(snapshot));
    renameSync(`${path}.new`, path);
  },
};

const folder = temporaryFolder();

/**
 * Measures microseconds per event of ordinary actors whose snapshot is stored after each event, as one would write it by hand: no journal,
 * no lease, no replay.
 *
 * @param {{ events: number, actors: number, store: string }} options
 */
export async function measure({ events, actors, store }) {
  const save = /** @type {(typeof STORES)[string]} */ (STORES[store])(folder);
  const run = crypto.randomUUID();
  const opened = Array.from({ length: actors }, (_, number) => ({
    id: `${run}-${number}`,
    ref: createActor(machine).start(),
  }));
  const startedAt = performance.now();
  await Promise.all(
    opened.map(async ({ id, ref }) => {
      for (let at = 0; at < events; at += 1) {
        ref.send(eventAt(at));
        save(id, ref.getPersistedSnapshot());
        // The caller continues when the event is stored, as with a durable actor.
        await null;
      }
    }),
  );
  const elapsedMs = performance.now() - startedAt;
  for (const { ref } of opened) assert.equal(ref.getSnapshot().context.lines, events);
  return { microseconds: (elapsedMs * 1_000) / (events * actors) };
}
