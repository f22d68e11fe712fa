import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { chartDigest } from '../../inspector/chart/drawing.ts';
import type { ChartProof } from '../../src/testing/proofs/chart-proof.ts';
import { pathEndingAt, testOfPath } from '../../src/testing/proofs/chart-proof.ts';
import { temporaryFolder } from '../support/cli.ts';
import { ownCharts } from '../support/inspector/inspected-runs.ts';

/** A project in which the built package and Vitest are installed. */
function project(): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  symlinkSync(resolve('.'), join(modules, 'postchain'));
  symlinkSync(resolve('node_modules/vitest'), join(modules, 'vitest'));
  return folder;
}

const run = (folder: string, script: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(script), ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], POSTCHAIN_HOME: folder, NO_COLOR: '1' },
  });
  return { status, output: `${stdout}${stderr}` };
};

it('the tests that the inspector copies pass in a project of their own, with the commands of the documentation', () => {
  const folder = project();
  const [chart] = ownCharts.charts;
  if (chart === undefined) throw new Error('no chart');
  const proofs = JSON.parse(readFileSync('inspector/proofs.json', 'utf8')) as Readonly<Record<string, ChartProof>>;
  const proof = proofs[chartDigest(chart.id, ownCharts, 0)] as ChartProof;
  const at = chart.transitions.findIndex(({ guard }) => guard === 'modelUnavailable');
  writeFileSync(join(folder, 'path.test.ts'), testOfPath(chart, pathEndingAt(proof, proof.byTransition[at] ?? -1), at));
  expect(run(folder, 'dist/cli.js', 'run', 'Is it so?', '--journal', 'last.jsonl').status).not.toBe(2);
  expect(run(folder, 'dist/cli.js', 'replay', 'last.jsonl', '--vitest', 'run.test.ts')).toMatchObject({ status: 0 });
  const result = run(folder, 'node_modules/vitest/vitest.mjs', 'run', 'path.test.ts', 'run.test.ts');
  expect(result.output).toMatch(/Tests\s+2 passed/u);
  expect(result.status).toBe(0);
});
