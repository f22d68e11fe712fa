/** Functions that need Node.js, or a runtime with its file system: documents from files, journals and sessions on disk. */

export { type SqliteSessions, type SqliteSessionsOptions, sqliteSessions } from '../chain/sqlite-sessions.ts';
export { type LoadOptions, loadDocuments } from '../documents/load-documents.ts';
export { fileJournals, readJournal } from '../durable/journals/file-journals.ts';
export { customJournals } from '../durable/journals/line-store.ts';
export { type SqliteJournals, sqliteJournals } from '../durable/journals/sqlite-journals.ts';
