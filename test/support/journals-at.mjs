import { fileJournals, sqliteJournals } from '../../dist/node.js';
import { postgresJournals } from '../../dist/postgres.js';

const OPEN = { file: fileJournals, sqlite: sqliteJournals, postgres: postgresJournals };

/** Opens a store by its kind, at a path or, in PostgreSQL, a connection string. */
export const journalsAt = (kind, place) => OPEN[kind](place);

const DAY_MS = 86_400_000;

/** Limits that no busy machine exceeds: a process that gets 3 % of a core needs minutes to begin a reply, which is then a hung model. */
export const patientLimits = Object.fromEntries(
  ['totalMs', 'phaseMs', 'synthesisMs', 'firstChunkMs', 'chunkMs', 'capabilityMs'].map((name) => [name, DAY_MS]),
);
