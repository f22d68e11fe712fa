/** Functions that need Node.js, or a runtime with its file system: documents from files, journals and sessions on disk. */

export { type SqliteSessions, type SqliteSessionsOptions, sqliteSessions } from '../chain/sqlite-sessions.ts';
export { type LoadOptions, loadDocuments } from '../documents/load-documents.ts';
export { fileJournals, readJournal } from '../journal/file-journals.ts';
export { type SqliteJournals, sqliteJournals } from '../journal/sqlite-journals.ts';
