/** Journals of runs and sessions in PostgreSQL. */

export { type PostgresSessions, type PostgresSessionsOptions, postgresSessions } from '../chain/postgres-sessions.ts';
export type { PostgresPool, PostgresSource } from '../durable/journals/postgres.ts';
export { type PostgresJournals, postgresJournals } from '../durable/journals/postgres-journals.ts';
