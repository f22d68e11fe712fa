import pg from 'pg';
import { createDurableMachine, customJournals, postgresJournals } from '../../dist/durable.js';
import { customerAt, describeAttributes, order, WEEK_MS } from './machine.mjs';

/**
 * @typedef {object} Written A journal that PostChain has written.
 * @property {string} name
 * @property {string} startedAt
 * @property {string[]} lines
 * @property {Parameters<ReturnType<import('../../dist/durable.js').JournalBackend['create']>['append']>[1]['index']} index
 */

const BATCH = 1_000;

const INSERT = `WITH given AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::text[], $5::float8[], $6::text[], $7::bigint[])
      AS given (name, started, lines, state, due, terms, token)
  ), journal AS (
    INSERT INTO postchain_actors (name, started, ended, lines, token, expires, machine, state, due, terms, indexed)
    SELECT name, started, state = 'ended', lines, token, now(), $8, state, due,
      ARRAY(SELECT jsonb_array_elements_text(terms::jsonb)), token
    FROM given RETURNING id, name
  )
  INSERT INTO postchain_actor_lines (journal, seq, line)
  SELECT id, seq, line FROM unnest($9::text[], $10::int[], $11::text[]) AS line (name, seq, line) JOIN journal USING (name)`;

/** Creates the tables of a store. @param {{ url: string, pool: number }} options */
export async function open({ url, pool: max }) {
  const pool = new pg.Pool({ connectionString: url, max });
  await postgresJournals(pool).list({ limit: 1 });

  /** @param {readonly Written[]} batch */
  async function store(batch) {
    const lines = batch.flatMap(({ name, lines: texts }) => texts.map((line, seq) => ({ name, seq, line })));
    await pool.query(INSERT, [
      batch.map(({ name }) => name),
      batch.map(({ startedAt }) => startedAt),
      batch.map(({ lines: texts }) => texts.length),
      batch.map(({ index }) => index.state),
      batch.map(({ index }) => index.dueMs),
      batch.map(({ index }) => JSON.stringify(index.terms)),
      batch.map(() => Math.floor(Math.random() * 2 ** 52)),
      JSON.stringify(order.id),
      lines.map(({ name }) => name),
      lines.map(({ seq }) => seq),
      lines.map(({ line }) => line),
    ]);
  }

  return {
    /**
     * Stores actors as PostChain writes them, but a thousand per statement. `kind` is that of their orders; they start one after another, from
     * `startedAtMs`.
     *
     * @param {{ prefix: string, from: number, to: number, kind: import('./machine.mjs').OrderInput['kind'], startedAtMs: number }} options
     */
    async fill({ prefix, from, to, kind, startedAtMs }) {
      /** @type {Map<string, Written>} */
      const open = new Map();
      /** @type {Written[]} */
      const written = [];
      const journals = customJournals({
        create(id) {
          const journal = /** @type {Written} */ ({ name: JSON.stringify(id), startedAt: '', lines: [] });
          open.set(id, journal);
          return {
            append(lines, { startedAt, index }) {
              journal.lines.push(...lines);
              journal.startedAt ||= startedAt ?? '';
              journal.index = index;
            },
            close() {
              open.delete(id);
              written.push(journal);
            },
          };
        },
        reopen: () => Promise.reject(new Error('not used')),
        lines: () => [],
        bounds: () => [],
        remove() {},
      });
      let nowMs = startedAtMs;
      const clock = { now: () => nowMs, setTimeout: () => 0, clearTimeout() {} };
      const orders = createDurableMachine(order, { journals, describeAttributes, clock });
      for (let number = from; number < to; number += 1) {
        nowMs += 10;
        const input = { kind, customer: customerAt(number), delayMs: WEEK_MS };
        const actor = orders.start(`${prefix}-${number}`, { input });
        if (kind === 'steps') await actor.output;
        await actor.close();
        if (written.length >= BATCH) await store(written.splice(0));
      }
      await store(written.splice(0));
    },
  };
}
