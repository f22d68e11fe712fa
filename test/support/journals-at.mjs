import { fileJournals, sqliteJournals } from '../../dist/node.js';
import { postgresJournals } from '../../dist/postgres.js';

const OPEN = { file: fileJournals, sqlite: sqliteJournals, postgres: postgresJournals };

/** Opens a store by its kind, at a path or, in PostgreSQL, a connection string. */
export const journalsAt = (kind, place) => OPEN[kind](place);
