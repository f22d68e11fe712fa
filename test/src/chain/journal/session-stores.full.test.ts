import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from 'vitest';
import type { SessionStore, SessionTurn } from '../../../../machines/contracts/session.ts';
import { postgresSessions } from '../../../../src/chain/postgres-sessions.ts';
import { memorySessions } from '../../../../src/chain/runtime/memory-sessions.ts';
import { sqliteSessions } from '../../../../src/chain/sqlite-sessions.ts';
import type { PostgresSource } from '../../../../src/durable/journals/postgres.ts';
import { temporaryFolder } from '../../../support/cli.ts';
import { aMessage } from '../../../support/contract-samples.ts';
import { anError } from '../../../support/errors.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { append, aTurn, recall, recalledIds } from '../../../support/sessions.ts';

const POSTGRES = 'in PostgreSQL (needs the programs initdb and postgres)';

type Make = (options?: { readonly maxTurns?: number }) => SessionStore | Promise<SessionStore>;

let pglite: PGlite;
let server: PostgresServer | null = null;
beforeAll(async () => {
  pglite = await PGlite.create();
  if (hasPostgres) server = await startPostgres();
});
afterAll(async () => {
  await pglite.close();
  await server?.stop();
});

function inPostgres(source: PostgresSource, options?: { readonly maxTurns?: number }): SessionStore {
  const store = postgresSessions(source, options);
  onTestFinished(() => store.close());
  return store;
}

const STORES: readonly (readonly [string, Make])[] = [
  ['in memory', memorySessions],
  ['in a file', (options) => sqliteSessions(join(temporaryFolder(), 'chat.db'), options)],
  [
    'in PGlite',
    async (options) => {
      await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      return inPostgres(pglite, options);
    },
  ],
  [POSTGRES, async (options) => inPostgres((await server?.newSchema()) ?? '', options)],
];

const HOSTILE_IDS = [
  "'; DROP TABLE turn; --",
  "u' OR '1'='1",
  '%',
  '_',
  '*',
  '?',
  'u\0',
  'u\0v',
  'u',
  'U',
  'ü',
  'u\u0308',
  '🦊',
  '\ud83e',
  '\udd8a',
  '__proto__',
  'constructor',
  'toString',
  '1',
  '01',
  '1.0',
  'null',
  ' ',
  '  ',
  'a'.repeat(10_000),
];

describe.each(STORES)('a session store %s', (name, make) => {
  const it = name === POSTGRES ? test.skipIf(!hasPostgres) : test;

  it('recalls as many of the newest turns as requested', async () => {
    const store = await make();
    for (const id of ['r1', 'r2', 'r3']) await append(store, 'u42', aTurn(id));
    expect(await recalledIds(store, 'u42', 2)).toEqual(['r2', 'r3']);
    expect(await recalledIds(store, 'u42', Number.POSITIVE_INFINITY)).toEqual(['r1', 'r2', 'r3']);
    for (const turns of [0, -1, Number.NaN]) expect(await recalledIds(store, 'u42', turns)).toEqual([]);
  });

  it('[U15] stores what the session keeps with its newest three turns, and everything else with all', async () => {
    const store = await make();
    const kept = [aMessage({ id: 'note', tags: ['pinned'] })];
    const turns = [1, 2, 3, 4, 5].map((number) =>
      aTurn(`r${number}`, { number, kept, removed: ['x'], droppedMessages: 2 }),
    );
    for (const turn of turns) await append(store, 'u42', turn);
    await append(store, 'u42', turns[4] as SessionTurn);
    await append(store, 'other', aTurn('r1', { kept }));
    const older = turns.map(({ kept: _, ...turn }) => turn);
    expect(await recall(store, 'u42')).toEqual([...older.slice(0, 2), ...turns.slice(2)]);
    expect(await recall(store, 'other')).toEqual([aTurn('r1', { kept })]);
  });

  it('keeps sessions apart, whatever their ids', async () => {
    const store = await make();
    for (const [at, id] of HOSTILE_IDS.entries()) await append(store, id, aTurn(`r${at}`));
    for (const [at, id] of HOSTILE_IDS.entries()) expect(await recalledIds(store, id)).toEqual([`r${at}`]);
  });

  it('keeps turns apart, whatever their run ids', async () => {
    const store = await make();
    for (const id of HOSTILE_IDS) await append(store, 'u42', aTurn(id));
    expect(await recalledIds(store, 'u42')).toEqual(HOSTILE_IDS);
  });

  it('stores any character, and ten million of them', async () => {
    const store = await make();
    const request = `\0\ud800 "'\\\u2028\r\n🦊 ${'x'.repeat(10_000_000)}`;
    await append(store, 'u42', aTurn('r1', { request }));
    expect((await recall(store, 'u42'))[0]?.request === request).toBe(true);
  });

  it('copies turns on append and on recall', async () => {
    const store = await make();
    const turn = { ...aTurn('r1'), runs: [{ capability: 'work', success: true, summary: 'done' }] };
    await append(store, 'u42', turn);
    turn.answer = 'changed';
    turn.runs.pop();
    for (let time = 0; time < 2; time += 1) {
      const [kept] = (await recall(store, 'u42')) as unknown as { answer: string }[];
      expect(kept).toMatchObject({ answer: 'All is well with r1.', runs: [{ capability: 'work' }] });
      if (kept !== undefined) kept.answer = 'changed';
    }
  });

  it.each([
    ['no fields', null],
    ['an invalid status', { ...aTurn(), status: 'asleep' }],
    ['an invalid answer', { ...aTurn(), answer: 7 }],
    ['an invalid time', { ...aTurn(), atMs: Number.NaN }],
  ])('rejects a turn with %s and keeps the others', async (__, turn) => {
    const store = await make();
    await append(store, 'u42', aTurn('r0'));
    await expect((async () => append(store, 'u42', turn as SessionTurn))()).rejects.toMatchObject({
      code: 'invalid_option',
    });
    expect(await recalledIds(store, 'u42')).toEqual(['r0']);
  });

  it('drops unknown fields and pollutes no prototype', async () => {
    const store = await make();
    const turn = JSON.parse(`{"__proto__": {"polluted": 1}, "secret": 1, ${JSON.stringify(aTurn()).slice(1)}`);
    await append(store, 'u42', turn);
    const [kept] = await recall(store, 'u42');
    expect(kept).toStrictEqual(aTurn());
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('[R4] behaves like a list of the newest turns after any appends and recalls', async () => {
    const id = fc.constantFrom('a', 'b', 'a\0', '__proto__');
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ session: id, run: fc.nat(12).map((at) => `r${at}`), answer: fc.string() }) },
      { weight: 1, arbitrary: fc.record({ session: id, turns: fc.nat(8) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 6 }), async (steps, maxTurns) => {
        const store = await make({ maxTurns });
        const model = new Map<string, SessionTurn[]>();
        for (const one of steps) {
          const kept = model.get(one.session) ?? [];
          if ('turns' in one) {
            expect(await recall(store, one.session, one.turns)).toEqual(
              kept.slice(Math.max(0, kept.length - one.turns)),
            );
            continue;
          }
          const runs = [{ capability: 'work', success: false, summary: 'no' }];
          const turn = aTurn(one.run, { answer: one.answer, runs, status: 'cancelled', atMs: -1.5 });
          await append(store, one.session, turn);
          const place = kept.findIndex(({ runId }) => runId === one.run);
          if (place >= 0) kept[place] = turn;
          else kept.push(turn);
          model.set(one.session, kept.slice(-maxTurns));
        }
        for (const [session, kept] of model) expect(await recall(store, session)).toEqual(kept);
      }),
      { numRuns: 25 },
    );
  });
});

describe('postgresSessions', () => {
  it('skips damaged turns, and reports them', async () => {
    await pglite.exec('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const store = inPostgres(pglite);
    for (const id of ['r1', 'r2']) await append(store, 'u42', aTurn(id));
    await pglite.query(`UPDATE postchain_turns SET turn = '{' WHERE run = '"r1"'`);
    const problems: string[] = [];
    const { signal } = new AbortController();
    const turns = await store.recall('u42', { turns: 9, signal, onProblem: (problem) => problems.push(problem) });
    expect([turns, problems]).toEqual([[aTurn('r2')], ['1 of 2 turns are damaged']]);
  });

  it('rejects with session_failed if the database cannot be used, and with the reason if the signal aborts', async () => {
    const error = Object.assign(new Error('no such database'), { code: '3D000' });
    const failing = postgresSessions({ query: () => Promise.reject(error) });
    await expect(failing.open()).rejects.toMatchObject({
      code: 'session_failed',
      message: 'postgresSessions: cannot use the database: no such database',
    });
    const hanging = postgresSessions({ query: () => new Promise(() => {}) });
    const aborted = new AbortController();
    const recalled = hanging.recall('u42', { turns: 1, signal: aborted.signal });
    aborted.abort(new Error('enough'));
    await expect(recalled).rejects.toThrow('enough');
    expect(() => postgresSessions('', {})).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(() => postgresSessions(pglite, { maxTurns: 0 })).toThrow(/^maxTurns: /u);
  });
});

describe('memorySessions', () => {
  it('evicts the least recently used session', async () => {
    const id = fc.nat(5).map((at) => `u${at}`);
    const step = fc.record({ session: id, appends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const store = memorySessions({ maxSessions: 3 });
        let order: string[] = [];
        for (const [at, { session, appends }] of steps.entries()) {
          const known = order.includes(session);
          if (appends) await append(store, session, aTurn(`r${at}`));
          else expect((await recall(store, session)).length > 0).toBe(known);
          if (appends || known) order = [...order.filter((one) => one !== session), session].slice(-3);
        }
        for (let at = 0; at < 6; at += 1)
          if (!order.includes(`u${at}`)) expect(await recall(store, `u${at}`)).toEqual([]);
        for (const session of order) expect(await recall(store, session)).not.toEqual([]);
      }),
    );
  });

  it('answers synchronously', () => {
    const { signal } = new AbortController();
    const store = memorySessions();
    expect(store.append('u42', aTurn(), { signal })).toBeUndefined();
    expect(store.recall('u42', { turns: 1, signal })).toEqual([aTurn()]);
  });

  it.each([
    [{ maxTurns: 0 }, /^maxTurns: .*; received 0\./u],
    [{ maxSessions: 1.5 }, /^maxSessions: .*; received 1\.5\./u],
    [{ maxSesions: 3 }, /^maxSesions: unknown option; expected one of maxTurns, maxSessions\.$/u],
    [null, /^memorySessions: .*; received null\./u],
  ])('rejects invalid limits: %j', (options, message) => {
    expect(() => memorySessions(options as never)).toThrow(anError('invalid_option', message));
  });
});
