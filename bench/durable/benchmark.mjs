import { race } from '../race.mjs';
import { against, row } from '../row.mjs';

/** @typedef {{ microseconds: number }} Sample */

/** Events per round, of all actors together. */
const EVENTS = 4_000;

const STORES = ['none', 'SQLite', 'files'];
const ACTORS = [1, 20];

/** @param {string} who @param {string} store @param {number} actors */
const nameOf = (who, store, actors) =>
  `${who}, ${store === 'none' ? 'in memory' : store}, ${actors === 1 ? 'one actor' : `${actors} actors`}`;

/** Measures the cost of one event of a durable actor, next to an ordinary actor whose snapshot is stored by hand. */
export async function measureDurable() {
  const pairs = STORES.flatMap((store) => ACTORS.map((actors) => ({ store, actors })));
  /** @type {Record<string, Sample[]>} */
  const measured = await race(
    pairs.flatMap(({ store, actors }) =>
      ['hand-written', 'postchain'].map((who) => ({
        name: nameOf(who, store, actors),
        module: new URL(`${who}.mjs`, import.meta.url),
        lane: `${who} ${store}`,
        options: { store, actors, events: EVENTS / actors },
      })),
    ),
    { rounds: 9, warmUps: 4 },
  );
  const rowOf = (/** @type {string} */ name) =>
    row(
      name,
      (measured[name] ?? []).map(({ microseconds }) => microseconds),
    );
  return {
    title: 'one event of a durable actor, and of an ordinary actor whose snapshot is stored by hand after each event',
    rows: pairs.flatMap(({ store, actors }) => {
      const other = rowOf(nameOf('hand-written', store, actors));
      const own = rowOf(nameOf('postchain', store, actors));
      return [against(own, other, { goal: actors === 1 ? 1.2 : 0.6 }), other];
    }),
    facts: { events: EVENTS },
  };
}
