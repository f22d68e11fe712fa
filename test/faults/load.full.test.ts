import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sampleSize } from '../support/soak.ts';

interface LoadResult {
  readonly ends: readonly {
    readonly status: string;
    readonly reason: string | null;
    readonly hasText: boolean;
    readonly lastReplyMs: number;
  }[];
  readonly listeners: number;
  readonly resources: { readonly before: number; readonly after: number };
}

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Starts the model server in a process of its own, as a model is in production, until the test ends. */
async function startServer(): Promise<string> {
  const server = fork(path('../../bench/load/server.mjs'));
  onTestFinished(() => server.disconnect());
  const [{ port }] = await once(server, 'message');
  return `http://127.0.0.1:${port}/v1`;
}

/** Runs the program in a heap of 512 MB. */
async function runLoad(...args: readonly number[]): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=512', path('load.mjs'), await startServer(), ...args.map(String)],
    { maxBuffer: 10_000_000 },
  );
  return JSON.parse(stdout);
}

const RUNS = sampleSize('runs at once', 100, 1_000);

describe('many runs at once, in a heap of 512 MB', () => {
  it('all answer, none that passed its deadline is completed, and nothing is left open', async () => {
    const { ends, listeners, resources } = await runLoad(RUNS, 10_000);
    expect(ends).toHaveLength(RUNS);
    for (const { status, reason, hasText, lastReplyMs } of ends) {
      expect(hasText).toBe(true);
      expect(['completed', 'degraded']).toContain(status);
      if (status === 'completed') expect(lastReplyMs).toBeLessThanOrEqual(10_000);
      else expect(reason).toBe('deadline_passed');
    }
    expect([listeners, resources.after]).toEqual([0, resources.before]);
  });

  it('are all completed if maxConcurrentRuns queues them', async () => {
    const { ends, listeners, resources } = await runLoad(50, 600_000, 10);
    expect(ends.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 'completed'));
    expect([listeners, resources.after]).toEqual([0, resources.before]);
  });
});
