import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/cli.ts';

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

it('the test that postchain replay writes passes in a project of its own, with the commands of the documentation', () => {
  const folder = project();
  expect(run(folder, 'dist/cli.js', 'run', 'Is it so?', '--journal', 'last.jsonl').status).not.toBe(2);
  expect(run(folder, 'dist/cli.js', 'replay', 'last.jsonl', '--vitest', 'run.test.ts')).toMatchObject({ status: 0 });
  const result = run(folder, 'node_modules/vitest/vitest.mjs', 'run', 'run.test.ts');
  expect(result.output).toMatch(/Tests\s+1 passed/u);
  expect(result.status).toBe(0);
});
