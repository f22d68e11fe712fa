/** Functions that need Node.js, or a runtime with its file system: documents from files, journals and sessions on disk. */

export {
  customJournals,
  fileJournals,
  readJournal,
  type SqliteJournals,
  sqliteJournals,
} from '../chain/journal/node-stores.ts';
export { type SqliteSessions, type SqliteSessionsOptions, sqliteSessions } from '../chain/sqlite-sessions.ts';
export { type LoadOptions, loadDocuments } from '../documents/load-documents.ts';
