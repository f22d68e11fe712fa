import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Vitest on the example, as a reader would. */
async function vitest(...flags: readonly string[]): Promise<Ended> {
  const vitestItself = 'node_modules/vitest/vitest.mjs';
  const started = run(process.execPath, [vitestItself, 'run', '--root', 'examples/chart-coverage', ...flags]);
  return started.then(
    (ended) => ({ code: 0, ...ended }),
    (failed: Ended) => failed,
  );
}

describe('the chart coverage example in Vitest', () => {
  it('reports how much of the chart its tests reached, and checks the thresholds', async () => {
    const { code, stdout } = await vitest();
    expect(stdout).toMatch(/^machine +states +transitions +guards +outcomes +delays +all\ndoor( +100\.0%){6}$/mu);
    expect(code).toBe(0);
  });

  it('fails the run if a threshold is missed, and names what is missing', async () => {
    const { code, stdout, stderr } = await vitest('-t', 'locks');
    expect(stdout).toMatch(/^door, not reached:\n {2}transition {2}closed, error → open$/mu);
    expect(stderr).toContain('Chart coverage: door: 60.0% of transitions, below 90%\n');
    expect(code).toBe(1);
  });
});
