import { fileJournals, sqliteJournals } from '../../dist/node.js';
import { postgresJournals } from '../../dist/postgres.js';

const OPEN = { file: fileJournals, sqlite: sqliteJournals, postgres: postgresJournals };

/** Opens a store by its kind, at a path or, in PostgreSQL, a connection string. */
export const journalsAt = (kind, place) => OPEN[kind](place);

const DAY_MS = 86_400_000;

/** Limits long enough for a busy machine: with 3% of a core, a process needs minutes to start a reply, and would be treated as a hung model. */
export const dayLongLimits = Object.fromEntries(
  ['totalMs', 'phaseMs', 'synthesisMs', 'firstChunkMs', 'chunkMs', 'capabilityMs'].map((name) => [name, DAY_MS]),
);
