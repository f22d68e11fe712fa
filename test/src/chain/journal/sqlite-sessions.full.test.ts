import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sqliteSessions } from '../../../../src/chain/sqlite-sessions.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { anError } from '../../../support/errors.ts';
import { append, appendTurns, aTurn, recall, recalledIds } from '../../../support/sessions.ts';

const aFile = (name = 'chat.db'): string => join(temporaryFolder(), name);
const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Opens the file as another program would; closed at the end of the test. */
function openDatabase(path: string) {
  const database = new Database(path, { timeout: 100 });
  onTestFinished(() => void database.close());
  return database;
}

describe('sqliteSessions', () => {
  it('[R2] shares sessions between open stores and with later ones', async () => {
    const file = aFile();
    const [one, other] = [sqliteSessions(file), sqliteSessions(file)];
    await append(one, 'u42', aTurn('r1'));
    expect(await recalledIds(other, 'u42')).toEqual(['r1']);
    await append(other, 'u42', aTurn('r2'));
    expect(await recalledIds(one, 'u42')).toEqual(['r1', 'r2']);
    one.close();
    other.close();
    expect(await recalledIds(sqliteSessions(file), 'u42')).toEqual(['r1', 'r2']);
  });

  it('creates the file on first use', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    expect(existsSync(file)).toBe(false);
    await store.open();
    expect(existsSync(file)).toBe(true);
  });

  it('creates files that only their owner can read', async () => {
    const file = aFile();
    await append(sqliteSessions(file), 'u42', aTurn());
    const folder = join(file, '..');
    const names = readdirSync(folder);
    expect(names).toEqual(['chat.db', 'chat.db-shm', 'chat.db-wal']);
    for (const name of names) expect(modeOf(join(folder, name)).toString(8)).toBe('600');
  });

  it('keeps the file mode that the owner set', async () => {
    const file = aFile();
    await append(sqliteSessions(file), 'u42', aTurn());
    chmodSync(file, 0o640);
    await append(sqliteSessions(file), 'u42', aTurn('r2'));
    expect(modeOf(file).toString(8)).toBe('640');
  });

  it('[R4] deletes turns beyond maxTurns from the file', async () => {
    const file = aFile();
    const store = sqliteSessions(file, { maxTurns: 2 });
    for (const id of ['r1', 'r2', 'r3']) {
      await append(store, 'u42', aTurn(id));
      await append(store, 'u43', aTurn(id));
    }
    const [row] = openDatabase(file).prepare('SELECT count(*) AS turns FROM turn').all([]);
    expect(row).toMatchObject({ turns: 4 });
    expect(await recalledIds(sqliteSessions(file), 'u43')).toEqual(['r2', 'r3']);
  });

  it('does nothing if the signal is already aborted', async () => {
    const store = sqliteSessions(aFile());
    const signal = AbortSignal.abort();
    await expect(store.append('u42', aTurn(), { signal })).rejects.toThrow(/abort/);
    await expect(store.recall('u42', { turns: 1, signal })).rejects.toThrow(/abort/);
    expect(await recall(store, 'u42')).toEqual([]);
  });

  it('leaves one complete file after closing', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    await append(store, 'u42', aTurn());
    store.close();
    const copy = aFile('copy.db');
    writeFileSync(copy, readFileSync(file));
    expect(await recalledIds(sqliteSessions(copy), 'u42')).toEqual(['r1']);
  });

  it('rejects calls after close, and can be closed twice', async () => {
    const store = sqliteSessions(aFile());
    await append(store, 'u42', aTurn());
    store.close();
    store.close();
    await expect(recall(store, 'u42')).rejects.toMatchObject({ code: 'session_failed' });
    await expect(append(store, 'u42', aTurn())).rejects.toThrow(/the store is closed/);
  });

  it('can be closed while it is opening', async () => {
    const store = sqliteSessions(aFile());
    const opening = store.open();
    store.close();
    await expect(opening).rejects.toThrow(/the store is closed/);
  });

  it('resolves the path when the store is created', async () => {
    const folder = temporaryFolder();
    const before = process.cwd();
    const other = temporaryFolder();
    process.chdir(folder);
    const store = sqliteSessions('chat.db');
    process.chdir(other);
    await store.open().finally(() => process.chdir(before));
    expect(readdirSync(folder)).toContain('chat.db');
    expect(readdirSync(other)).toEqual([]);
  });

  it('loses no turn when four processes write the file at once', async () => {
    const file = aFile();
    const writers = ['a', 'b', 'c', 'd'].map((who) => ({ who, ...appendTurns(file, who, 20) }));
    for (const { ended } of writers) expect(await ended).toBe(0);
    const store = sqliteSessions(file);
    const shared = await recalledIds(store, 'shared');
    expect(shared).toHaveLength(80);
    for (const { who } of writers) {
      const own = Array.from({ length: 20 }, (_, at) => `${who}${at}`);
      expect(shared.filter((id) => id.startsWith(who))).toEqual(own);
      expect(await recalledIds(store, who)).toEqual(own);
    }
  });

  it('keeps every turn stored before the process was killed', async () => {
    const file = aFile();
    const { child, ended, linesSoFar, after } = appendTurns(file, 'a', 100_000);
    await after(5);
    child.kill('SIGKILL');
    await ended;
    const stored = new Set(await recalledIds(sqliteSessions(file), 'a', 100_000));
    for (const id of linesSoFar()) expect(stored).toContain(id);
  });

  it('waits while another program locks the file, unless the signal aborts', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    await append(store, 'u42', aTurn('r1'));
    const other = openDatabase(file);
    other.exec('BEGIN IMMEDIATE');
    const controller = new AbortController();
    const aborted = Promise.resolve(store.append('u42', aTurn('lost'), { signal: controller.signal }));
    controller.abort();
    await expect(aborted).rejects.toThrow(/abort/i);
    const waiting = append(store, 'u42', aTurn('r2'));
    expect(await recalledIds(store, 'u42')).toEqual(['r1']);
    other.exec('COMMIT');
    await waiting;
    expect(await recalledIds(store, 'u42')).toEqual(['r1', 'r2']);
  });

  it('[U15] reads turns that an earlier version wrote, and leaves damaged ones as they are', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    await store.open();
    const database = openDatabase(file);
    const insert = database.prepare('INSERT INTO turn (session, run, turn) VALUES (?, ?, ?)');
    const { runId, ...rest } = aTurn('old');
    insert.run('"u42"', '"old"', JSON.stringify({ runId, ...rest }));
    insert.run('"u42"', '"damaged"', '{"runId": "dam');
    for (const id of ['r1', 'r2', 'r3']) await append(store, 'u42', aTurn(id, { kept: [] }));
    expect((await recall(store, 'u42')).map((turn) => turn.runId)).toEqual(['old', 'r1', 'r2', 'r3']);
    expect(await recall(store, 'u42')).toContainEqual(aTurn('old'));
  });

  it('skips damaged turns and reports their number', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    for (const id of ['r1', 'r2', 'r3', 'r4', 'r5']) await append(store, 'u42', aTurn(id));
    const other = openDatabase(file);
    const damage = other.prepare('UPDATE turn SET turn = ? WHERE run = ?');
    damage.run('{"runId": "r1", "requ', '"r1"');
    damage.run(JSON.stringify({ ...aTurn('r3'), status: 'asleep' }), '"r3"');
    damage.run('null', '"r4"');
    // Not valid UTF-8.
    other.exec(`UPDATE turn SET turn = CAST(x'7bff7d' AS TEXT) WHERE run = '"r4"'`);
    const problems: string[] = [];
    const { signal } = new AbortController();
    const turns = await store.recall('u42', { turns: 9, signal, onProblem: (problem) => problems.push(problem) });
    expect(turns.map(({ runId }) => runId)).toEqual(['r2', 'r5']);
    expect(problems).toEqual(['3 of 5 turns are damaged']);
  });
});

describe('an unusable file', () => {
  const notADatabase = 'My dear Ada, this is a letter, not a database. '.repeat(200);

  function foreign(file: string): void {
    const database = openDatabase(file);
    database.exec('CREATE TABLE turn (session, run, turn)');
    database.exec('PRAGMA user_version = 1');
  }

  function newer(file: string): void {
    const database = openDatabase(file);
    database.exec(`PRAGMA application_id = ${0x50437365}`);
    database.exec('PRAGMA user_version = 2');
  }

  it.each([
    ['a text file', (file: string) => writeFileSync(file, notADatabase), /file is not a database/],
    ['a file that is too short', (file: string) => writeFileSync(file, 'SQLite format 3\0'), /not a database/],
    ['the database of another program', foreign, /it is the database of another program/],
    ['a database of a later version', newer, /its format version is 2; this PostChain reads version 1/],
    ['a directory', (file: string) => mkdirSync(file), /it is a directory/],
  ])('is reported in one line and left unchanged (%s)', async (_, make, message) => {
    const file = aFile();
    make(file);
    const before = statSync(file).isFile() ? readFileSync(file) : null;
    const store = sqliteSessions(file);
    for (const pending of [store.open(), recall(store, 'u42'), append(store, 'u42', aTurn())]) {
      const error = await pending.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject(anError('session_failed', message));
      expect((error as Error).message).toMatch(/^Cannot use the sessions in ".*chat\.db": .*; expected a file/);
      expect((error as Error).message).not.toContain('\n');
    }
    if (before !== null) expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('in a missing directory is reported, and used once the directory exists', async () => {
    const folder = join(temporaryFolder(), 'later');
    const store = sqliteSessions(join(folder, 'chat.db'));
    await expect(store.open()).rejects.toThrow(/ENOENT/);
    mkdirSync(folder);
    await append(store, 'u42', aTurn());
    expect(await recalledIds(store, 'u42')).toEqual(['r1']);
  });

  it('damaged after it was opened is reported', async () => {
    const file = aFile();
    const store = sqliteSessions(file);
    await append(store, 'u42', aTurn());
    openDatabase(file).exec('DROP TABLE turn');
    await expect(recall(store, 'u42')).rejects.toMatchObject(anError('session_failed', 'no such table'));
  });

  it.each([[''], [' '], [7], [undefined], [':memory:'], ['a\0b']])('is rejected for the path %j', (path) => {
    expect(() => sqliteSessions(path as string)).toThrow(anError('invalid_option', 'expected the path of a file'));
  });

  it.each(['http://127.0.0.1:9/x', 'libsql://host.example/x'])('is never treated as a server URL: %s', async (path) => {
    await expect(sqliteSessions(path).open()).rejects.toThrow(/ENOENT/);
  });
});
