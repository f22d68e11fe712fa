import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, createLogger, type Rolldown } from 'vite';
import { beforeAll, describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { PROGRAM_FOLDER, TOOLS_FOLDER } from '../support/runtimes-setup.ts';
import { isSoak } from '../support/soak.ts';

/** Entries that need a package beside `xstate`, `zod` and `openai`, which their users have installed. */
const OPTIONAL = ['mcp', 'otel', 'react', 'restate'];
const NODE_ONLY = ['node', 'inspection', 'testing'];
const names = Object.keys(manifest.exports)
  .filter((name) => name !== './package.json')
  .map((name) => name.slice(2))
  .filter((name) => !OPTIONAL.includes(name));
const anywhere = names.filter((name) => !NODE_ONLY.includes(name));

const FOLDER = join(PROGRAM_FOLDER, 'bundles');
const run = promisify(execFile);
type Platform = 'node' | 'browser';

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true });
  cpSync('test/runtimes/bundle.mjs', join(TOOLS_FOLDER, 'bundle.mjs'));
  writeProgram('node', names);
  writeProgram('browser', anywhere);
});

/** Writes a program that uses all exports of the entries. */
function writeProgram(platform: Platform, entries: readonly string[]): void {
  const imports = entries.map(
    (name, at) => `import * as e${at} from '${['postchain', name].filter(Boolean).join('/')}';`,
  );
  const all = entries.map((_, at) => `e${at}`).join(', ');
  const code = `process.stdout.write(String([${all}].every((entry) => Object.keys(entry).length > 0)));`;
  writeFileSync(join(FOLDER, `${platform}.mjs`), [...imports, code].join('\n'));
}

/** Returns the bundler's errors and warnings. */
async function problemsOf(bundler: string, platform: Platform, to: string): Promise<unknown> {
  const file = join(FOLDER, `${platform}.mjs`);
  if (bundler === 'vite') return viteProblems(file, platform, to);
  const { stdout } = await run(process.execPath, [join(TOOLS_FOLDER, 'bundle.mjs'), bundler, platform, file, to]);
  return JSON.parse(stdout);
}

async function viteProblems(file: string, platform: Platform, outDir: string): Promise<readonly string[]> {
  const problems: string[] = [];
  const report = (message: string): void => void problems.push(message);
  await build({
    root: FOLDER,
    configFile: false,
    customLogger: { ...createLogger('silent'), warn: report, warnOnce: report, error: report },
    build: {
      ssr: platform === 'node',
      outDir,
      rolldownOptions: { input: file, output: { entryFileNames: 'out.mjs' } },
      // Otherwise it reports the size of every program as a warning.
      chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
    },
    ...(platform === 'node' && { ssr: { noExternal: true } }),
  }).catch(({ message }: Error) => problems.push(message));
  return problems;
}

/** The soak installs the others. */
const BUNDLERS = isSoak ? ['vite', 'esbuild', 'webpack', 'rollup'] : ['vite'];
if (isSoak) process.stderr.write(`soak: bundles by ${BUNDLERS.join(', ')}\n`);

describe.each(BUNDLERS)('%s', (bundler) => {
  it('bundles every entry for Node without a warning, though optional packages are missing, and the bundle runs', async () => {
    const to = join(FOLDER, `${bundler}-node`);
    expect(await problemsOf(bundler, 'node', to)).toEqual([]);
    const { stdout } = await run(process.execPath, [join(to, 'out.mjs')]);
    expect(stdout).toBe('true');
  });

  it('bundles every entry that needs no Node for the browser, without a warning', async () => {
    expect(await problemsOf(bundler, 'browser', join(FOLDER, `${bundler}-browser`))).toEqual([]);
  });
});

/** Returns the bytes, minified and gzipped, that a page loads to use one export. Chunks that are imported later do not count. */
async function initialSize(entry: string, name: string): Promise<number> {
  const file = join(FOLDER, `${name}.mjs`);
  writeFileSync(file, `import { ${name} } from '${entry}';\nglobalThis.used = ${name};`);
  const { output } = (await build({
    root: FOLDER,
    configFile: false,
    logLevel: 'silent',
    build: { write: false, modulePreload: false, rolldownOptions: { input: file, external: ['react'] } },
  })) as Rolldown.RolldownOutput;
  const chunks = new Map(output.flatMap((part) => (part.type === 'chunk' ? [[part.fileName, part] as const] : [])));
  const loaded = new Set([...chunks.values()].filter(({ isEntry }) => isEntry));
  for (const { imports } of loaded)
    for (const chunk of imports.flatMap((fileName) => chunks.get(fileName) ?? [])) loaded.add(chunk);
  return [...loaded].reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
}

it.each([
  ['createStructuredOutput', 'postchain/structured-output', 60_000],
  ['runTools', 'postchain/agents', 75_000],
  ['createPostChain', 'postchain', 190_500],
  // It needs neither XState nor zod, and only types of the engine.
  ['useRun', 'postchain/react', 6_000],
])('%s starts with at most the documented size, with zod and XState if it uses them', async (name, entry, most) => {
  const size = await initialSize(entry, name);
  expect(size).toBeLessThanOrEqual(most);
  expect(size).toBeGreaterThan(most / 2);
});
