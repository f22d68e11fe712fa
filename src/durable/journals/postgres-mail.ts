import { idOf, nameOf, noSuchJournal, receiversReport } from './line-store.ts';
import type { LineMailbox } from './mailbox.ts';
import type { PostgresTables } from './postgres.ts';

const MAIL = 'postchain_mail';

export const POSTGRES_MAIL = {
  table: MAIL,
  schema: `
  CREATE TABLE IF NOT EXISTS ${MAIL} (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    journal bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    message text NOT NULL,
    UNIQUE (journal, id)
  );`,
  /** A condition: whether messages wait for the actor whose journal has this id. */
  waitsFor: (journal: string): string => `EXISTS (SELECT FROM ${MAIL} WHERE journal = ${journal})`,
  /** Deletes the messages for actors whose journals a query returns. */
  deleteFor: (journals: string): string => `DELETE FROM ${MAIL} WHERE journal IN (${journals})`,
};

/** The beginning of a notification about a message; those about journals begin with a quotation mark. */
const PREFIX = 'mail';

export const isOfJournal = (payload: string): boolean => !payload.startsWith(PREFIX);

/** Most actors are open for a shorter time: listening takes a connection. */
const LISTEN_AFTER_MS = 100;

/** `channel`: that of the notifications. `written` waits until the lines of a journal are stored. */
export function postgresMailbox(
  db: PostgresTables,
  { journals, channel, written }: { journals: string; channel: string; written(id: string): Promise<void> },
): LineMailbox {
  const ofJournal = `journal = (SELECT id FROM ${journals} WHERE name = $1)`;
  async function receivers(): Promise<readonly string[]> {
    const sql = `SELECT name FROM ${journals} WHERE id IN (SELECT journal FROM ${MAIL})`;
    return (await db.rows<{ name: string }>(sql, [])).map(({ name }) => idOf(name));
  }
  return {
    async post(to, id, line) {
      await written(to);
      const sql = `WITH receiver AS (SELECT id, name FROM ${journals} WHERE name = $1),
          posted AS (INSERT INTO ${MAIL} (journal, id, message) SELECT id, $2, $3 FROM receiver ON CONFLICT DO NOTHING)
        SELECT pg_notify('${channel}', '${PREFIX}' || CASE WHEN octet_length(name) < 7000 THEN name ELSE '' END)::text FROM receiver`;
      const posted = await db.rows(sql, [nameOf(to), nameOf(id), line]);
      if (posted.length === 0) throw noSuchJournal(to);
    },
    async read(to) {
      const sql = `SELECT id, message FROM ${MAIL} WHERE ${ofJournal} ORDER BY seq`;
      const rows = await db.rows<{ id: string; message: string }>(sql, [nameOf(to)]);
      return rows.map(({ id, message }) => ({ id: idOf(id), line: message }));
    },
    async remove(to, ids) {
      await db.rows(`DELETE FROM ${MAIL} WHERE ${ofJournal} AND id = ANY($2)`, [nameOf(to), ids.map(nameOf)]);
    },
    receivers,
    watch(onMail) {
      const poll = receiversReport(receivers, onMail);
      let stop = (): void => clearTimeout(timer);
      const timer = setTimeout(() => {
        const onPayload = (payload: string | null): void => {
          if (payload === null || payload === PREFIX) poll();
          else if (payload.startsWith(PREFIX)) onMail([idOf(payload.slice(PREFIX.length))]);
        };
        stop = db.listen(onPayload, { keepsAlive: false });
      }, LISTEN_AFTER_MS);
      timer.unref?.();
      return () => stop();
    },
  };
}
