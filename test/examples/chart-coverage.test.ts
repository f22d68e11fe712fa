import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Vitest itself, over the example, as its reader would start it. */
async function vitest(...flags: readonly string[]): Promise<Ended> {
  const vitestItself = 'node_modules/vitest/vitest.mjs';
  const started = run(process.execPath, [vitestItself, 'run', '--root', 'examples/chart-coverage', ...flags]);
  return started.then(
    (ended) => ({ code: 0, ...ended }),
    (failed: Ended) => failed,
  );
}

describe('the example of chart coverage in Vitest', () => {
  it('tells what its tests brought about of the chart, and holds it against the thresholds', async () => {
    const { code, stdout } = await vitest();
    expect(stdout).toMatch(/^machine +states +transitions +guards +outcomes +delays +all\ndoor( +100\.0 %){6}$/mu);
    expect(code).toBe(0);
    const page = await readFile('examples/chart-coverage/coverage/charts.html', 'utf8');
    expect(page).toContain('"title":"Vitest, 1 test file"');
    expect(page).toContain('"layout":{"drawings":{"door":');
  }, 60_000);

  it('fails the run where a threshold is missed, and says what is', async () => {
    const { code, stdout, stderr } = await vitest('-t', 'is locked');
    expect(stdout).toMatch(/^door, never:\n {2}transition {2}closed, error → open$/mu);
    expect(stderr).toContain('Chart coverage: door: 60.0 % of transitions, wanted 90 %\n');
    expect(code).toBe(1);
  }, 60_000);
});
