import { idOf, nameOf, noSuchJournal, receiversReport, repeat } from './line-store.ts';
import type { LineMailbox } from './mailbox.ts';
import { type Bytes, type SqliteConnection, type SqliteFile, textOf } from './sqlite-file.ts';

export const SQLITE_MAIL = `
  CREATE TABLE mail (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    journal INTEGER NOT NULL,
    id TEXT NOT NULL,
    message TEXT NOT NULL,
    UNIQUE (journal, id)
  ) STRICT;`;

/** Whether messages wait for the actor whose journal has this row. */
export const hasMail = (connection: SqliteConnection, rowId: number): boolean =>
  connection.all('SELECT 1 FROM mail WHERE journal = ? LIMIT 1', [rowId]).length > 0;

export function sqliteMailbox(file: () => Pick<SqliteFile, 'read' | 'write'>): LineMailbox {
  const ofJournal = 'journal = (SELECT id FROM journal WHERE name = ?)';
  const mailbox: LineMailbox = {
    post: (to, id, line) =>
      file().write((connection) => {
        const [row] = connection.all<{ id: number }>('SELECT id FROM journal WHERE name = ?', [nameOf(to)]);
        if (row === undefined) throw noSuchJournal(to);
        const values = [row.id, nameOf(id), line];
        connection.run('INSERT OR IGNORE INTO mail (journal, id, message) VALUES (?, ?, ?)', values);
      }),
    read: (to) =>
      file().read((connection) =>
        connection
          .all<{ id: Bytes; message: Bytes }>(
            `SELECT CAST(id AS BLOB) AS id, CAST(message AS BLOB) AS message FROM mail WHERE ${ofJournal} ORDER BY seq`,
            [nameOf(to)],
          )
          .map(({ id, message }) => ({ id: idOf(textOf(id)), line: textOf(message) })),
      ),
    remove: (to, ids) =>
      file().write((connection) => {
        const sql = `DELETE FROM mail WHERE ${ofJournal} AND id IN (SELECT value FROM json_each(?))`;
        connection.run(sql, [nameOf(to), JSON.stringify(ids.map(nameOf))]);
      }),
    receivers: () =>
      file().read((connection) =>
        connection
          .all<{ name: Bytes }>(
            'SELECT CAST(name AS BLOB) AS name FROM journal WHERE id IN (SELECT journal FROM mail)',
            [],
          )
          .map(({ name }) => idOf(textOf(name))),
      ),
    watch: (onMail) => repeat(receiversReport(mailbox.receivers, onMail)),
  };
  return mailbox;
}
