import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { chartDigest } from '../../../../inspector/chart/drawing.ts';
import { runCharts } from '../../../../src/inspection/source.ts';
import { type ChartProof, pathEndingAt, testOfPath } from '../../../../src/testing/proofs/chart-proof.ts';

const call = promisify(execFile);

it('the tests that the inspector writes pass, and fail if a step is left out', async () => {
  // Within the project, so that Vitest finds `postchain`.
  const folder = new URL(`../../../generated-proofs-${process.pid}`, import.meta.url).pathname;
  mkdirSync(folder);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const proofs = JSON.parse(readFileSync(new URL('../../../../inspector/proofs.json', import.meta.url), 'utf8'));
  const longest: string[] = [];
  for (const chart of runCharts().charts) {
    const proof: ChartProof = proofs[chartDigest(chart.id, runCharts(), 0)];
    const texts = proof.byTransition.map((end, index) => testOfPath(chart, pathEndingAt(proof, end ?? 0), index));
    for (const [index, text] of texts.entries())
      if (index % 8 === 0) writeFileSync(join(folder, `${chart.id}-${index}.test.ts`), text);
    longest.push(texts.toSorted((one, other) => other.length - one.length)[0] ?? '');
  }
  for (const [index, text] of longest.entries()) writeFileSync(join(folder, `longest-${index}.test.ts`), text);
  const run = () => call('npx', ['vitest', 'run', folder], { env: { ...process.env, NO_COLOR: '1' } });
  expect((await run()).stdout).toMatch(/Test Files {2}\d+ passed \(\d+\)/u);
  writeFileSync(join(folder, 'longest-0.test.ts'), longest[0]?.replace(/ {2}walk\.take\(.*\n/u, '') ?? '');
  await expect(run()).rejects.toMatchObject({ stdout: expect.stringContaining('1 failed') });
});
