import { race } from '../race.mjs';
import { against, row } from '../row.mjs';

const module = new URL('recording.mjs', import.meta.url);
const ENTRIES = 100_000;
const CYCLES = 1_000;
const windows = { early: [50, 150], late: [CYCLES - 150, CYCLES - 50] };

/** Measures the cost of writing a journal, and of reading and replaying a long one. */
export async function measureJournal() {
  const writing = ['memory', 'file', 'SQLite'].map((store) => ({
    name: store,
    module,
    options: { what: 'write', store, cycles: CYCLES, windows },
  }));
  const reading = { name: 'read', module, options: { what: 'read', entries: ENTRIES } };
  const samples = /** @type {Record<string, Record<string, number>[]>} */ (
    await race([...writing, reading], { rounds: 3, warmUps: 1 })
  );
  /** @param {string} name @param {string} key @param {number} [factor] */
  const of = (name, key, factor = 1) => (samples[name] ?? []).map((sample) => (sample[key] ?? Number.NaN) * factor);
  const rows = writing.flatMap(({ name }) => {
    const early = row(`writing an entry, ${name}, cycles 50 to 150`, of(name, 'early'));
    return [early, against(row(`the same, cycles 850 to 950`, of(name, 'late')), early, { limit: 1.3 })];
  });
  const parse = row(`parsing ${ENTRIES} lines as JSON, per entry`, of('read', 'parse', 1000 / ENTRIES));
  return {
    title: `journals of runs of ${CYCLES} cycles, and one of ${ENTRIES} entries`,
    rows: [
      ...rows,
      parse,
      against(row('reading, with checksums and schemas', of('read', 'read', 1000 / ENTRIES)), parse),
      against(row('folding the context', of('read', 'fold', 1000 / ENTRIES)), parse),
      against(row('replaying, comparing all entries', of('read', 'replay', 1000 / ENTRIES)), parse),
    ],
    facts: { 'bytes per entry in the file': Math.round(samples['read']?.[0]?.['bytes'] ?? 0) },
  };
}
