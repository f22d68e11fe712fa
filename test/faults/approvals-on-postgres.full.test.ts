import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runEntries, runSummary } from '../../src/chain/journal/run-journal.ts';
import { postgresJournals } from '../../src/entries/postgres.ts';
import { temporaryFolder } from '../support/cli.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';

const RUNS = 200;
const KILLS = 10;

describe.skipIf(!hasPostgres)('two processes with 200 runs that need approval, on PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it('lose and double nothing, though one of them is killed ten times', async () => {
    const url = await server.newSchema();
    const effects = join(temporaryFolder(), 'effects');
    const lines = (): readonly string[] =>
      existsSync(effects) ? readFileSync(effects, 'utf8').split('\n').slice(0, -1) : [];
    const start = (first: number, last: number): ChildProcess => {
      const args = ['test/support/approving-many.mjs', url, effects, `${first}`, `${last}`, `${RUNS}`];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const pool = server.pool(url);
    const journals = postgresJournals(pool);
    const keyOf = (runId: string): string | undefined => lines().find((key) => key.startsWith(`${runId}.`));
    /** Calls whose results are stored, with the number of calls that the receiver had counted afterward. */
    const finished = new Map<string, number>();
    const noteFinished = async (): Promise<void> => {
      const found: string[] = [];
      for (const { id: runId } of await journals.list())
        for await (const { type } of runEntries(journals.read(runId)))
          if (type === 'capability-end') found.push(keyOf(runId) ?? `${runId} has no key`);
      for (const key of found) if (!finished.has(key)) finished.set(key, lines().length);
    };
    const survivor = start(1, RUNS / 2);
    let victim = start(RUNS / 2 + 1, RUNS);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // At every seventeenth effect.
      await expect.poll(() => lines().length, { interval: 2 }).toBeGreaterThanOrEqual((kill * RUNS) / (KILLS + 2));
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      await noteFinished();
      victim = start(RUNS / 2 + 1, RUNS);
    }
    for (const child of [survivor, victim]) if (child.exitCode === null) await once(child, 'exit');
    expect([survivor.exitCode, victim.exitCode]).toEqual([0, 0]);
    const runs = await journals.list();
    expect(runs.map(({ id }) => id).sort()).toEqual(Array.from({ length: RUNS }, (_, at) => `run-${at + 1}`).sort());
    expect(new Set(runs.map((run) => runSummary(run).status))).toEqual(new Set(['completed']));
    // The receiver counts each key once. Only a call whose result was not stored when its process was killed comes again, with its key.
    const keys = new Set(lines());
    expect(keys.size).toBe(RUNS);
    expect(new Set([...keys].map((key) => /run-\d+/u.exec(key)?.[0])).size).toBe(RUNS);
    expect(finished.size).toBeGreaterThan(KILLS);
    expect([...finished].filter(([key, count]) => lines().indexOf(key, count) !== -1)).toEqual([]);
  });
});
