/** Journals of runs and sessions in PostgreSQL. */

export { type PostgresJournals, postgresJournals } from '../chain/journal/node-stores.ts';
export { type PostgresSessions, type PostgresSessionsOptions, postgresSessions } from '../chain/postgres-sessions.ts';
export type { PostgresPool, PostgresSource } from '../durable/journals/postgres.ts';
