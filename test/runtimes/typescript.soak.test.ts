import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { PROGRAM_FOLDER, tool } from '../support/runtimes-setup.ts';

/** Entries whose types are those of a package that is not installed. */
const OPTIONAL = ['./mcp', './otel', './restate'];
const FOLDER = join(PROGRAM_FOLDER, 'types');

it('TypeScript 5.4 accepts the declarations of every entry without skipLibCheck', async () => {
  mkdirSync(FOLDER, { recursive: true });
  const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json' && !OPTIONAL.includes(name));
  const imports = entries.map((name, at) => `import * as e${at} from 'postchain${name.slice(1)}';`);
  writeFileSync(join(FOLDER, 'main.ts'), [...imports, `console.log(${entries.map((_, at) => `e${at}`)});`].join('\n'));
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2023', 'dom'],
    noEmit: true,
    skipLibCheck: false,
    typeRoots: [resolve('node_modules/@types')],
    types: ['node'],
  };
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  const compiled = await run(process.execPath, [tool('typescript', 'bin', 'tsc'), '-p', FOLDER]).catch(
    (error) => error,
  );
  expect(compiled.stdout).toBe('');
});

const run = promisify(execFile);
