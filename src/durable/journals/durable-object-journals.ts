import { PostChainError } from '../../../machines/contracts/error.ts';
import type { JournalStoreOptions, Journals } from './journal-store.ts';
import {
  createLineStore,
  idOf,
  type JournalIndex,
  journalExists,
  journalInUse,
  type LineBounds,
  type LineSink,
  type LinesQuery,
  nameOf,
  noSuchJournal,
  requireStoreOptions,
  subjectOf,
} from './line-store.ts';

/** The storage of a Durable Object, `ctx.storage`, whose class is listed in `new_sqlite_classes`. */
export interface ObjectStorage {
  readonly sql: { exec(query: string, ...bindings: unknown[]): { toArray(): readonly object[] } };
  transactionSync<Value>(act: () => Value): Value;
  getAlarm(): Promise<number | null>;
  setAlarm(scheduledTime: number): Promise<void>;
  deleteAlarm(): Promise<void>;
}

/** `name` is the id of the journal as JSON, `machine` the id of its machine as JSON. `since_ms` is when `state` or `due_ms` last changed. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS postchain_actors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    started TEXT NOT NULL,
    machine TEXT,
    state TEXT NOT NULL,
    due_ms REAL,
    since_ms REAL NOT NULL
  );
  CREATE TABLE IF NOT EXISTS postchain_actor_lines (
    actor INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (actor, seq)
  ) WITHOUT ROWID;
`;

/**
 * While an actor is in progress, an alarm this often keeps its object in memory. If the object was evicted nevertheless, the alarm starts it
 * again.
 */
const IN_PROGRESS_MS = 30_000;
/** The longest time between two attempts to continue an actor. */
const MAX_RETRY_MS = 3_600_000;

/**
 * When the object must be woken for actors that it does not have in memory: at the end of their next delay. If that has passed, or they were
 * interrupted, continuing them may have failed: the time between two attempts doubles.
 */
const NEXT_WAKE = `SELECT min(CASE WHEN due_ms > ?1 THEN due_ms
    ELSE ?1 + max(${IN_PROGRESS_MS}, min(${MAX_RETRY_MS}, ?1 - coalesce(due_ms, since_ms))) END) AS atMs
  FROM postchain_actors WHERE state = 'open' OR due_ms IS NOT NULL`;

/** The rows that a list needs. */
const LISTED = `SELECT id FROM postchain_actors WHERE (?1 IS NULL OR name IN (SELECT value FROM json_each(?1)))
  AND (?2 IS NULL OR machine = ?2) AND (?3 IS NULL OR state IN (SELECT value FROM json_each(?3)))
  AND (?4 IS NULL OR due_ms <= ?4) AND (?5 IS NULL OR started <= ?5) ORDER BY started DESC`;

const LAST_SEQ = '(SELECT max(seq) FROM postchain_actor_lines WHERE actor = id)';
const lineAt = (seq: string): string => `(SELECT line FROM postchain_actor_lines WHERE actor = id AND seq = ${seq})`;
const ENDS = `SELECT name, ${LAST_SEQ} AS lastSeq, ${lineAt('0')} AS first, ${lineAt(LAST_SEQ)} AS last
  FROM postchain_actors WHERE id = ?`;

const UPDATE = 'UPDATE postchain_actors SET machine = ?, state = ?, due_ms = ?, since_ms = ? WHERE id = ?';
const INSERT_LINE = 'INSERT INTO postchain_actor_lines VALUES (?, ?, ?)';

/** A page is in memory at once, and a line may have 2 MB. */
const PAGE_LINES = 50;

/**
 * Keeps the journals of the actors of one Durable Object in its storage, and sets its alarm, which no other code of the object may set: the class
 * must have a method `alarm` that calls `wake` of the durable machine. An actor continues at the alarm when its next delay ends, and when the
 * object was evicted during a call. The entries of a step are stored before anything that follows leaves the object. Needs the
 * compatibility flag `nodejs_compat`. Throws `invalid_option` for an unknown or invalid option.
 *
 * @example
 * export class Order extends DurableObject {
 *   orders = createDurableMachine(orderMachine, { journals: durableObjectJournals(this.ctx.storage) });
 *   async alarm() { await this.orders.wake(); }
 * }
 */
export function durableObjectJournals(
  storage: ObjectStorage,
  options: Omit<JournalStoreOptions, 'fsync'> = {},
): Journals {
  requireStoreOptions('durableObjectJournals', options);
  if (typeof globalThis.process?.getBuiltinModule !== 'function')
    throw new PostChainError(
      'invalid_option',
      'durableObjectJournals: expected a Worker with zlib and Buffer; add "nodejs_compat" to its "compatibility_flags".',
    );
  const object = objectOf(storage);
  return createLineStore(
    {
      create(id) {
        if (object.sinks.has(id) || object.find(id) !== undefined) throw journalExists(id);
        return new ObjectSink(object, id, null);
      },
      reopen(id, { force = false }) {
        if (!force) object.requireFree(id);
        return new ObjectSink(object, id, object.row(id).id);
      },
      *lines(id, from = 0) {
        if (object.sinks.has(id) && object.find(id) === undefined) return;
        yield* object.lines(object.row(id).id, from);
      },
      *linesBackward(id) {
        yield* object.linesBackward(object.row(id).id);
      },
      bounds: (query) => object.bounds(query),
      watch: (onChange) => object.watch((id) => onChange([id])),
      watchOne: (id, onChange) => object.watch((changed) => changed === id && onChange()),
      remove: (id) => object.remove(id),
      isOrdered: true,
    },
    options,
  );
}

/** The stores of one object share who writes which journal, and the alarm. */
const objects = new WeakMap<ObjectStorage, ObjectJournals>();

function objectOf(storage: ObjectStorage): ObjectJournals {
  const object = objects.get(storage) ?? new ObjectJournals(storage);
  objects.set(storage, object);
  return object;
}

interface Ends {
  readonly name: string;
  readonly lastSeq: number | null;
  readonly first: string | null;
  readonly last: string | null;
}

/**
 * The tables of a Durable Object. There is one object at a time, in one thread: what an earlier one writes after this one has started
 * is not stored. So who writes a journal is kept in memory.
 */
class ObjectJournals {
  readonly storage: ObjectStorage;
  readonly sinks = new Map<string, ObjectSink>();
  readonly #watchers = new Set<(id: string) => void>();

  constructor(storage: ObjectStorage) {
    this.storage = storage;
    this.query(SCHEMA);
  }

  query<Row>(sql: string, ...values: readonly (string | number | null)[]): readonly Row[] {
    return this.storage.sql.exec(sql, ...values).toArray() as readonly Row[];
  }

  find(id: string): { readonly id: number } | undefined {
    return this.query<{ id: number }>('SELECT id FROM postchain_actors WHERE name = ?', nameOf(id))[0];
  }

  row(id: string): { readonly id: number } {
    const row = this.find(id);
    if (row === undefined) throw noSuchJournal(id);
    return row;
  }

  requireFree(id: string): void {
    if (this.sinks.has(id)) throw journalInUse(subjectOf(id), 'this Durable Object');
  }

  *lines(actor: number, from: number): Generator<string> {
    for (let next = from; ; next += PAGE_LINES) {
      const page = this.#page(actor, next);
      for (const { line } of page) yield line;
      if (page.length < PAGE_LINES) return;
    }
  }

  *linesBackward(actor: number): Generator<string> {
    for (let end = this.count(actor); end > 0; end -= PAGE_LINES)
      for (const { line } of this.#page(actor, Math.max(0, end - PAGE_LINES), end).toReversed()) yield line;
  }

  #page(actor: number, from: number, end = from + PAGE_LINES) {
    const sql = 'SELECT line FROM postchain_actor_lines WHERE actor = ? AND seq >= ? AND seq < ? ORDER BY seq';
    return this.query<{ line: string }>(sql, actor, from, end);
  }

  count(actor: number): number {
    const [found] = this.query<{ count: number }>(
      'SELECT count(*) AS count FROM postchain_actor_lines WHERE actor = ?',
      actor,
    );
    return found?.count ?? 0;
  }

  async *bounds({ ids, list }: LinesQuery = {}): AsyncGenerator<LineBounds> {
    // The alarm has just ended, and its handler looks for actors to continue.
    if ((await this.storage.getAlarm()) === null) await this.setAlarm();
    const json = (values: readonly string[] | undefined): string | null => (values ? JSON.stringify(values) : null);
    const { machine, states, dueBefore = null, startedAt = null } = list ?? {};
    const machineName = machine === undefined ? null : nameOf(machine);
    const listed = this.query<{ id: number }>(
      LISTED,
      json(ids?.map(nameOf)),
      machineName,
      json(states),
      dueBefore,
      startedAt,
    );
    for (const { id: row } of listed) {
      const [ends] = this.query<Ends>(ENDS, row);
      if (ends === undefined) continue;
      const id = idOf(ends.name);
      const lines = { first: ends.first ?? '', last: ends.last ?? '' };
      yield { id, version: `${row} ${ends.lastSeq}`, lines, isWritten: this.sinks.has(id) };
    }
  }

  remove(id: string): void {
    const { id: actor } = this.row(id);
    this.requireFree(id);
    this.storage.transactionSync(() => {
      this.query('DELETE FROM postchain_actor_lines WHERE actor = ?', actor);
      this.query('DELETE FROM postchain_actors WHERE id = ?', actor);
    });
    this.changed(id);
  }

  watch(onChange: (id: string) => void): () => void {
    this.#watchers.add(onChange);
    return () => void this.#watchers.delete(onChange);
  }

  changed(id: string): void {
    for (const onChange of this.#watchers) onChange(id);
  }

  /** Sets the alarm for the next time at which the object must continue an actor. Writes that follow each other without an `await` are stored together. */
  setAlarm(): Promise<void> {
    const nowMs = Date.now();
    const [next] = this.query<{ atMs: number | null }>(NEXT_WAKE, nowMs);
    const isInProgress = [...this.sinks.values()].some(({ isOpen }) => isOpen);
    const times = [next?.atMs ?? null, isInProgress ? nowMs + IN_PROGRESS_MS : null].filter((atMs) => atMs !== null);
    return times.length > 0 ? this.storage.setAlarm(Math.ceil(Math.min(...times))) : this.storage.deleteAlarm();
  }
}

/** The writer of one journal, until another one takes it over. */
class ObjectSink implements LineSink {
  /** Whether the last line that it has written leaves something in progress. */
  isOpen = false;
  readonly #object: ObjectJournals;
  readonly #id: string;
  /** Null until the first lines are written, so that no empty journal is left behind. */
  #actor: number | null;
  #seq: number;
  #indexed = '';

  constructor(object: ObjectJournals, id: string, actor: number | null) {
    this.#object = object;
    this.#id = id;
    this.#actor = actor;
    this.#seq = actor === null ? 0 : object.count(actor);
    object.sinks.set(id, this);
    object.changed(id);
  }

  append(lines: readonly string[], { startedAt = '', index }: { startedAt: string | undefined; index: JournalIndex }) {
    const object = this.#object;
    if (object.sinks.get(this.#id) !== this)
      throw new PostChainError('journal_fenced', `another writer has taken over ${subjectOf(this.#id)}`);
    const { machine, state, dueMs } = index;
    const indexed = `${state} ${dueMs}`;
    const isChanged = indexed !== this.#indexed;
    this.isOpen = state === 'open';
    const alarm = object.storage.transactionSync(() => {
      const values = [machine === null ? null : nameOf(machine), state, dueMs, Date.now()];
      if (this.#actor === null) this.#actor = this.#insert(startedAt, values);
      else if (isChanged) object.query(UPDATE, ...values, this.#actor);
      for (const [at, line] of lines.entries()) object.query(INSERT_LINE, this.#actor, this.#seq + at, line);
      return isChanged ? object.setAlarm() : undefined;
    });
    this.#seq += lines.length;
    this.#indexed = indexed;
    object.changed(this.#id);
    return alarm;
  }

  #insert(startedAt: string, values: readonly (string | number | null)[]): number {
    const sql =
      'INSERT INTO postchain_actors (name, started, machine, state, due_ms, since_ms) VALUES (?, ?, ?, ?, ?, ?) RETURNING id';
    return (this.#object.query<{ id: number }>(sql, nameOf(this.#id), startedAt, ...values)[0] as { id: number }).id;
  }

  close(): void {
    if (this.#object.sinks.get(this.#id) !== this) return;
    this.#object.sinks.delete(this.#id);
    this.#object.changed(this.#id);
  }
}
