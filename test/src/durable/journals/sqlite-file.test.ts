import fs, { cpSync, readdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  openSqliteFile,
  type SqliteConnection,
  type SqliteKind,
  sqliteReason,
} from '../../../../src/durable/journals/sqlite-file.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { lockInOtherProcess } from '../../../support/file-lock.ts';

const kind: SqliteKind = {
  applicationId: 7,
  schema: 'CREATE TABLE item (name TEXT NOT NULL UNIQUE, bytes BLOB) STRICT;',
};

const insert =
  (name: string, bytes: Uint8Array | null = null) =>
  (connection: SqliteConnection) =>
    connection.run('INSERT INTO item (name, bytes) VALUES (?, ?)', [name, bytes]);
const names = (connection: SqliteConnection): readonly string[] =>
  connection.all<{ name: string }>('SELECT name FROM item ORDER BY rowid', []).map(({ name }) => name);

/** Two connections to one file, as two processes have them. */
function openTwice(options: Partial<SqliteKind> = {}) {
  const path = join(temporaryFolder(), 'items.db');
  const [file, other] = [openSqliteFile(path, { ...kind, ...options }), openSqliteFile(path, kind)];
  onTestFinished(() => {
    file.close();
    other.close();
  });
  return { path, file, other };
}

describe('an SQLite file', () => {
  it('writes all that one turn of the event loop asks for in one transaction', async () => {
    const { path, file, other } = openTwice();
    expect(await file.write(insert('a'))).toBe(1);
    const log = (): number => statSync(`${path}-wal`).size;
    const before = log();
    await file.write(insert('b'));
    const one = log() - before;
    await Promise.all(['c', 'd', 'e', 'f'].map((name) => file.write(insert(name))));
    expect(log() - before).toBe(2 * one);
    expect(await other.read(names)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('inserts the rows of one turn, and fails only the write whose row was not inserted', async () => {
    const sql = (rows: string) => `INSERT INTO item (name) SELECT column1 FROM (VALUES ${rows}) WHERE column1 != 'x'`;
    const { file } = openTwice({ insertions: [sql('(?)'), sql('(?), (?)')] });
    const write = (name: string) => file.write(({ insert }) => insert([name], () => expect.fail('not inserted')));
    await Promise.all([write('a'), write('b'), expect(write('x')).rejects.toThrow('not inserted'), write('c')]);
    expect(await file.read(names)).toEqual(['a', 'b', 'c']);
  });

  it('fails the writes of a chain after one that has failed', async () => {
    const { file } = openTwice();
    await file.write(insert('a'));
    const chain = { failure: undefined };
    const code = 'SQLITE_CONSTRAINT_UNIQUE';
    const failed = (name: string) => expect(file.write(insert(name), { chain })).rejects.toMatchObject({ code });
    await Promise.all([failed('a'), failed('b'), file.write(insert('c'))]);
    expect(await file.read(names)).toEqual(['a', 'c']);
  });

  it('reads what was written before, also in the same turn', async () => {
    const { file } = openTwice();
    const written = file.write(insert('a'));
    expect(await file.read(names)).toEqual(['a']);
    expect(await written).toBe(1);
  });

  it('keeps writes that wait for another process in order, and lets the process work meanwhile', async () => {
    const { path, file, other } = openTwice();
    await file.write(insert('a'));
    const release = await lockInOtherProcess(path);
    const waiting = ['b', 'c', 'd'].map((name) => file.write(insert(name)));
    // The timers of this process run: the lock is released by a message that this process sends.
    await new Promise((resolve) => setTimeout(resolve));
    expect(await other.read(names)).toEqual(['a']);
    await release();
    expect(await Promise.all(waiting)).toEqual([1, 1, 1]);
    expect(await other.read(names)).toEqual(['a', 'b', 'c', 'd']);
    expect(await other.write(insert('e'))).toBe(1);
  });

  it('keeps what several connections of a process write after another process has closed the file', async () => {
    const { path, file, other } = openTwice();
    await file.write(insert('a'));
    // As for a thread that looked before the file was created.
    const late = vi.spyOn(fs, 'statSync').mockReturnValueOnce(undefined);
    expect(await other.read(names)).toEqual(['a']);
    late.mockRestore();
    const close = await lockInOtherProcess(path);
    await close();
    await file.write(insert('b'));
    await other.write(insert('c'));
    // The copy is what a crash would leave.
    const copy = temporaryFolder();
    cpSync(dirname(path), copy, { recursive: true });
    const left = openSqliteFile(join(copy, 'items.db'), kind);
    onTestFinished(() => left.close());
    expect(await left.read(names)).toEqual(['a', 'b', 'c']);
  });

  it.each(['runs.db', 'link.db'])('is created for its owner only, and leaves nothing beside it: %s', async (name) => {
    const folder = temporaryFolder();
    const path = join(folder, 'runs.db');
    if (name !== 'runs.db') symlinkSync(path, join(folder, name));
    const file = openSqliteFile(join(folder, name), kind);
    onTestFinished(() => file.close());
    await file.write(insert('a'));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder).filter((each) => each.endsWith('.new'))).toEqual([]);
  });

  it('gives up a write after the longest wait, and remains usable', async () => {
    const { path, file, other } = openTwice({ waitMs: 1 });
    await file.write(insert('a'));
    const release = await lockInOtherProcess(path);
    await expect(file.write(insert('b'))).rejects.toThrow(
      'another program has kept the file locked for 0.001 seconds; end it, then try again',
    );
    await release();
    expect(await file.write(insert('c'))).toBe(1);
    expect(await other.read(names)).toEqual(['a', 'c']);
  });

  it('commits the other writes of a shared transaction if one of them fails', async () => {
    const { file, other } = openTwice();
    const results = await Promise.allSettled(
      ['a', 'b', 'a', 'c'].map((name) => file.write(insert(name), { isSynced: true })),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await other.read(names)).toEqual(['a', 'b', 'c']);
  });

  it('writes nothing of an action that throws, and holds no lock after it', async () => {
    const { file, other } = openTwice();
    await expect(
      file.write((connection) => {
        insert('a')(connection);
        insert('a')(connection);
      }),
    ).rejects.toThrow(expect.objectContaining({ code: 'SQLITE_CONSTRAINT_UNIQUE' }));
    expect(await other.write(insert('b'))).toBe(1);
    expect(await file.write(insert('c'))).toBe(1);
    expect(await other.read(names)).toEqual(['b', 'c']);
  });

  it('reports a full disk as such, and remains usable', async () => {
    const { path, file, other } = openTwice();
    const failure = await file
      .write((connection) => {
        connection.all('PRAGMA max_page_count = 8', []);
        for (let at = 0; ; at += 1) insert(`${at}`, new Uint8Array(3_000))(connection);
      })
      .catch((error: unknown) => error);
    expect(sqliteReason(failure, path)).toBe('the disk is full; free space on its volume');
    expect(await other.write(insert('a'))).toBe(1);
    expect(await file.write(insert('b'))).toBe(1);
    expect(await other.read(names)).toEqual(['a', 'b']);
  });

  it('executes one statement immediately, unless earlier writes wait or another process locks the file', async () => {
    const { path, file, other } = openTwice();
    const write = (name: string): boolean => file.writeNow((connection) => void insert(name)(connection));
    expect(write('a')).toBe(true);
    const waiting = file.write(insert('b'));
    expect(write('c')).toBe(false);
    await waiting;
    expect(() => write('a')).toThrow(expect.objectContaining({ code: 'SQLITE_CONSTRAINT_UNIQUE' }));
    expect(write('c')).toBe(true);
    const release = await lockInOtherProcess(path);
    expect(write('d')).toBe(false);
    await release();
    // From now on, the file is shared.
    expect(write('d')).toBe(false);
    await file.write(insert('d'));
    await other.write(insert('e'));
    expect(await file.read(names)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('stores nothing while the file is removed or replaced', async () => {
    const { path, file } = openTwice();
    await file.write(insert('a'));
    const moved = `${path}.moved`;
    const replaced = 'the file was removed or replaced while it was open';
    renameSync(path, moved);
    expect(() => file.writeNow((connection) => void insert('b')(connection))).toThrow(replaced);
    await expect(file.write(insert('b'))).rejects.toThrow(replaced);
    cpSync(moved, path);
    await expect(file.write(insert('c'), { isSynced: true })).rejects.toThrow(replaced);
    await expect(file.read(names)).rejects.toThrow(replaced);
    renameSync(moved, path);
    await file.write(insert('d'));
    expect(await file.read(names)).toEqual(['a', 'd']);
  });

  it('finishes the waiting writes when it is closed; later ones fail', async () => {
    const { file, other } = openTwice();
    const waiting = file.write(insert('a'), { isSynced: true });
    file.close();
    await waiting;
    expect(await other.read(names)).toEqual(['a']);
    await expect(file.write(insert('b'))).rejects.toThrow('the file is not open, because the store is closed');
    await expect(file.read(names)).rejects.toThrow('the file is not open');
  });

  it('rejects the writes that cannot be finished when it is closed', async () => {
    const { path, file } = openTwice();
    await file.write(insert('a'));
    const release = await lockInOtherProcess(path);
    const waiting = expect(file.write(insert('b'))).rejects.toThrow('the store is closed');
    file.close();
    await waiting;
    await release();
  });
});
