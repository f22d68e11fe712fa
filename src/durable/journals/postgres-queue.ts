import { type ClaimQuery, limitNumbers } from './queue.ts';

const QUEUE = 'postchain_actor_queue';
const ENQUEUE = 'postchain_enqueue';
const CLAIM = 'postchain_claim';
const LEAVE = 'postchain_leave_queue';

/** Exists if all of the schema does. */
export const QUEUE_BEGUN = `${QUEUE}_begun`;

/**
 * The journals that were enqueued. `begun`: null while a journal is queued; 0 and, after the next claim, -infinity if it was opened or deleted instead of
 * claimed. Of the queued journals with the same key and priority, `head` marks at least the first: a claim reads only these, however many are
 * queued. Claims of a machine come one after another, and what is enqueued meanwhile waits.
 */
export const queueSchema = (journals: string, channel: string): string => `
  CREATE TABLE IF NOT EXISTS ${QUEUE} (
    journal bigint PRIMARY KEY,
    machine text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    priority integer NOT NULL,
    due float8 NOT NULL,
    begun float8,
    head boolean NOT NULL
  );
  CREATE INDEX IF NOT EXISTS ${QUEUE}_heads ON ${QUEUE} (machine, priority, due, journal) WHERE head AND begun IS NULL;
  CREATE INDEX IF NOT EXISTS ${QUEUE}_by_key ON ${QUEUE} (machine, key, priority, due, journal) WHERE begun IS NULL;
  CREATE OR REPLACE FUNCTION ${ENQUEUE}(of_journal bigint, of_machine text, its_key text, its_priority integer, its_due float8)
  RETURNS void LANGUAGE plpgsql AS $queue$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(${LOCK}, hashtext(of_machine));
    INSERT INTO ${QUEUE} VALUES (of_journal, of_machine, its_key, its_priority, its_due, NULL, its_key IS NULL OR NOT EXISTS (
      SELECT FROM ${QUEUE} WHERE machine = of_machine AND key = its_key AND priority = its_priority AND begun IS NULL AND due <= its_due
    ));
  END $queue$;
  CREATE OR REPLACE FUNCTION ${LEAVE}(of_machine text, of_key text, of_priority integer)
  RETURNS void LANGUAGE plpgsql AS $queue$ BEGIN
    UPDATE ${QUEUE} SET head = true WHERE journal = (
      SELECT journal FROM ${QUEUE} WHERE machine = of_machine AND key = of_key AND priority = of_priority AND begun IS NULL
      ORDER BY due, journal LIMIT 1
    );
  END $queue$;
  ${claimFunction(journals, channel)}
  CREATE INDEX IF NOT EXISTS ${QUEUE_BEGUN} ON ${QUEUE} (machine, key) WHERE begun IS NOT NULL;`;

/** The first key of the advisory locks ("PCqu" in ASCII); the second is a hash of the machine. */
const LOCK = 0x50437175;

/** The parameters with `k_` are the limits of journals with the same key. */
const claimFunction = (journals: string, channel: string): string => `
  CREATE OR REPLACE FUNCTION ${CLAIM}(
    of_machine text, now_ms float8, most integer, active float8, starts float8, every float8, k_active float8, k_starts float8, k_every float8
  ) RETURNS SETOF text LANGUAGE plpgsql AS $queue$
  DECLARE
    one record;
    claimed_name text;
    full_keys text[];
    passed bigint[] := '{}';
    active_now float8;
    starts_now float8;
    left_over integer := most;
    level bigint;
    is_held boolean;
  BEGIN
    PERFORM pg_advisory_xact_lock(${LOCK}, hashtext(of_machine));
    FOR one IN UPDATE ${QUEUE} SET begun = '-infinity', head = false WHERE machine = of_machine AND begun = 0 RETURNING key, priority LOOP
      PERFORM ${LEAVE}(of_machine, one.key, one.priority);
    END LOOP;
    DELETE FROM ${QUEUE} AS q WHERE q.machine = of_machine AND q.begun <= now_ms - greatest(every, k_every)
      AND (least(active, k_active) = 'infinity' OR NOT EXISTS (SELECT FROM ${journals} AS j WHERE j.id = q.journal AND NOT j.ended));
    SELECT count(j.id), count(*) FILTER (WHERE q.begun > now_ms - every) INTO active_now, starts_now
      FROM ${QUEUE} AS q LEFT JOIN ${journals} AS j ON j.id = q.journal AND NOT j.ended
      WHERE q.machine = of_machine AND q.begun IS NOT NULL;
    full_keys := ARRAY(
      SELECT q.key FROM ${QUEUE} AS q LEFT JOIN ${journals} AS j ON j.id = q.journal AND NOT j.ended
      WHERE q.machine = of_machine AND q.begun IS NOT NULL AND q.key IS NOT NULL GROUP BY q.key
      HAVING count(j.id) >= k_active OR count(*) FILTER (WHERE q.begun > now_ms - k_every) >= k_starts
    );
    SELECT max(priority) INTO level FROM ${QUEUE} WHERE machine = of_machine AND head AND begun IS NULL;
    WHILE level IS NOT NULL AND left_over > 0 AND active_now < active AND starts_now < starts LOOP
      SELECT journal, key, priority INTO one FROM ${QUEUE}
        WHERE machine = of_machine AND head AND begun IS NULL AND priority = level AND due <= now_ms
          AND (key IS NULL OR key <> ALL (full_keys)) AND journal <> ALL (passed)
        ORDER BY due, journal LIMIT 1;
      IF NOT FOUND THEN
        SELECT max(priority) INTO level FROM ${QUEUE} WHERE machine = of_machine AND head AND begun IS NULL AND priority < level;
        CONTINUE;
      END IF;
      UPDATE ${journals} SET state = 'open' WHERE id = one.journal AND state = 'queued' AND token = indexed
        AND (owner IS NULL OR expires <= now()) RETURNING name INTO claimed_name;
      IF NOT FOUND AND EXISTS (SELECT FROM ${journals} WHERE id = one.journal AND state = 'queued' AND token = indexed) THEN
        passed := passed || one.journal;
        CONTINUE;
      END IF;
      IF claimed_name IS NULL THEN
        DELETE FROM ${QUEUE} WHERE journal = one.journal;
        PERFORM ${LEAVE}(of_machine, one.key, one.priority);
        CONTINUE;
      END IF;
      UPDATE ${QUEUE} SET begun = now_ms, head = false WHERE journal = one.journal AND begun IS NULL;
      PERFORM ${LEAVE}(of_machine, one.key, one.priority);
      active_now := active_now + 1;
      starts_now := starts_now + 1;
      left_over := left_over - 1;
      IF one.key IS NOT NULL AND (
        SELECT count(j.id) >= k_active OR count(*) FILTER (WHERE q.begun > now_ms - k_every) >= k_starts
        FROM ${QUEUE} AS q LEFT JOIN ${journals} AS j ON j.id = q.journal AND NOT j.ended
        WHERE q.machine = of_machine AND q.begun IS NOT NULL AND q.key = one.key
      ) THEN full_keys := full_keys || one.key; END IF;
      PERFORM pg_notify('${channel}', CASE WHEN octet_length(claimed_name) < 7000 THEN claimed_name ELSE '' END);
      RETURN NEXT claimed_name;
    END LOOP;
  END $queue$;`;

/** Whether a row of the journals is queued. */
export const isQueued = (journals: string): string =>
  `EXISTS (SELECT FROM ${QUEUE} WHERE ${QUEUE}.journal = ${journals}.id AND begun IS NULL)`;

/** Selects nothing, and enqueues a journal, given its id and parameters. */
export const enqueue = (parameters: string): string => `${ENQUEUE}(${parameters})`;

/** Returns the part of a statement that removes journals from the queue: those with the ids in a table. */
export const leaveQueue = (ids: string): string =>
  `left_queue AS (UPDATE ${QUEUE} SET begun = 0 WHERE begun IS NULL AND journal IN (SELECT id FROM ${ids}))`;

export const CLAIM_QUEUED = `SELECT ${CLAIM}($1, $2, $3, $4, $5, $6, $7, $8, $9) AS name`;

/** The parameters of `CLAIM_QUEUED`. `machine` is the name of the machine. */
export function claimValues(machine: string, { nowMs, count, limits, keyLimits }: ClaimQuery): readonly unknown[] {
  const numbers = [limits, keyLimits].map(limitNumbers);
  return [
    machine,
    nowMs,
    count,
    ...numbers.flatMap(({ concurrency, starts, everyMs }) => [concurrency, starts, everyMs]),
  ];
}
