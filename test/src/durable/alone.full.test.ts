import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/cli.ts';

/** Returns the files of `src/durable` and of `src/internal` that it imports. */
function durableFiles(): readonly string[] {
  const found = new Set(
    readdirSync('src/durable', { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('src/durable', name)),
  );
  for (const file of found)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\(?)\s*'(\.{1,2}\/[^']+)'/g)) {
      const target = relative('.', resolve(dirname(file), path));
      if (target.startsWith('src/internal/')) found.add(target);
    }
  return [...found];
}

it('durable statecharts compile without the rest of PostChain', { timeout: 120_000 }, async () => {
  const folder = temporaryFolder();
  for (const file of durableFiles()) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(file, join(folder, file));
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
  const config = { compilerOptions: { ...compilerOptions, paths: {} }, include: ['src'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  const compiled = promisify(execFile)('node_modules/.bin/tsc', ['-p', folder]).catch((error) => error);
  expect(await compiled).toMatchObject({ stdout: '' });
  const packages = durableFiles().flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/from '([^.'][^']*)'/g)].map(([, name = '']) => name),
  );
  expect(packages.filter((name) => !/^(?:node:.*|xstate|libsql)$/.test(name))).toEqual([]);
});
