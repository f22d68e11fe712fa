import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from './cli.ts';

const run = promisify(execFile);
const CLI = resolve('dist/cli.js');

/** Runs `postchain init` in a folder; rejects with the exit code and the output if it fails. */
export const initIn = (folder: string, ...args: readonly string[]) =>
  run(process.execPath, [CLI, 'init', ...args], { cwd: folder });

/** Runs `postchain init` in an empty folder of the test. */
export async function init(...args: readonly string[]) {
  const folder = temporaryFolder();
  return { folder, stdout: (await initIn(folder, ...args)).stdout };
}

/** Creates a project of a template, with links to installed packages, and runs its tests. `clients` are the folders of further packages. */
export async function testTemplate(template: string, clients: readonly string[] = []): Promise<string> {
  const { folder } = await init('project', '--template', template);
  const project = join(folder, 'project');
  writeFileSync(join(folder, 'vitest.config.ts'), 'throw new Error("the configuration of the project around it");');
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...devDependencies })) {
    const link = join(project, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    const installed = clients.find((each) => each.endsWith(`/node_modules/${name}`)) ?? resolve('node_modules', name);
    await symlink(name === 'postchain' ? resolve('.') : installed, link);
  }
  const bin = (name: string) => resolve('node_modules/.bin', name);
  const env = { PATH: process.env['PATH'], NO_COLOR: '1' };
  await run(bin('tsc'), [], { cwd: project, env });
  return (await run(bin('vitest'), ['run'], { cwd: project, env })).stdout;
}
