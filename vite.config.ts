import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Plugin, Rolldown } from 'vite';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/support/slow-first.ts';

/** The entry points of the package, by their names in `exports`; the root is `index`. */
const entry = {
  index: 'src/entries/index.ts',
  'structured-output': 'src/entries/structured-output.ts',
  durable: 'src/entries/durable.ts',
  agents: 'src/entries/agents.ts',
  machines: 'src/entries/machines.ts',
  openai: 'src/entries/openai.ts',
  'ai-sdk': 'src/entries/ai-sdk.ts',
  presentation: 'src/entries/presentation.ts',
  mcp: 'src/entries/mcp.ts',
  node: 'src/entries/node.ts',
  otel: 'src/entries/otel.ts',
  postgres: 'src/entries/postgres.ts',
  cloudflare: 'src/entries/cloudflare.ts',
  inspection: 'src/entries/inspection.ts',
  testing: 'src/entries/testing.ts',
  xstate6: 'src/entries/xstate6.ts',
  restate: 'src/entries/restate.ts',
  server: 'src/entries/server.ts',
  react: 'src/entries/react.ts',
};

const alias = Object.entries(entry).map(([name, path]) => ({
  find: name === 'index' ? /^postchain$/ : `postchain/${name}`,
  replacement: new URL(path, import.meta.url).pathname,
}));

/** Simulations, browsers, processes, module mocks: each file starts with nothing loaded, and `npm run test:full` runs them. */
const FULL = ['test/**/*.full.test.ts', 'test/site/**/*.test.ts', 'test/eval/**/*.soak.test.ts'];

/** Tests that install what they need: a real Restate server, and the packed package, other runtimes and bundlers. */
const INSTALLED = ['test/restate/**', 'test/runtimes/**'];

/** `npm run test:soak` runs all tests with large samples, and the files that are a soak as a whole. */
const isSoak = process.env['POSTCHAIN_SOAK'] === '1';
const SOAK = isSoak ? [] : ['test/**/*.soak.test.ts'];

/**
 * Marks the schemas of a module as free of side effects, so that bundlers leave out those that a program does not use. Bundlers cannot
 * know it for themselves: zod marks its functions, but neither `z.int` nor the method `check`.
 */
export function pureSchemas(): Plugin {
  return {
    name: 'pure-schemas',
    apply: 'build',
    // After the types are stripped.
    enforce: 'post',
    transform: {
      filter: { id: /\.ts$/, code: 'zod/mini' },
      handler(code) {
        const variables = this.parse(code).body.flatMap((statement) => {
          const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
          return declared?.type === 'VariableDeclaration' ? declared.declarations : [];
        });
        const schemas = variables.flatMap(({ init }) => {
          const isMade = init?.type === 'CallExpression' || init?.type === 'ObjectExpression';
          return isMade && /\bz\.\w+\(/u.test(code.slice(init.start, init.end)) ? [init] : [];
        });
        return schemas.reduceRight(
          (marked, { start, end }) =>
            `${marked.slice(0, start)}/* @__PURE__ */ (() => (${marked.slice(start, end)}))()${marked.slice(end)}`,
          code,
        );
      },
    },
  };
}

/** Leaves the descriptions of states out of what bundlers read: they are for readers of the charts, as comments are. */
function withoutDescriptions(): Plugin {
  return {
    name: 'without-descriptions',
    apply: (_, { mode }) => mode === 'bundlers',
    enforce: 'post',
    transform: {
      filter: { id: /\/machines\/.*\.machine\.ts$/, code: 'description:' },
      handler: (code) => code.replace(/\bdescription:\s*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'),?/gu, ''),
    },
  };
}

const nodeEntries = ['entries/index', 'entries/structured-output', 'entries/durable', 'cli/start'];

/**
 * Builds for Node: opening files is most of the time of an import, so the modules that the same of these entries need are one file, with the
 * libraries that they need. `vite build --mode bundlers` builds one file for each module instead, because a bundler leaves out what a program
 * does not use, and shares zod with it.
 */
function forNode(): Plugin {
  const needed = nodeEntries.map(
    (source) =>
      [source.split('/').at(-1) ?? '', new Set([fileURLToPath(new URL(`src/${source}.ts`, import.meta.url))])] as const,
  );
  function fileOf(id: string, context: Rolldown.ChunkingContext): string | null {
    for (const [, modules] of needed)
      for (const module of modules)
        for (const imported of context.getModuleInfo(module)?.importedIds ?? []) modules.add(imported);
    const name = needed.flatMap(([each, modules]) => (modules.has(id) ? [each] : [])).join('-');
    return context.getModuleInfo(id)?.isEntry || ['', 'start'].includes(name) ? null : name;
  }
  const groups = [{ debugName: 'needed together', name: fileOf, includeDependenciesRecursively: false }];
  // npm leaves folders of this name out of a package.
  const nameOf = ({ name }: { readonly name: string }) => `${name.replaceAll('node_modules', 'libraries')}.js`;
  // Excludes the full zod, which only `postchain/ai-sdk` imports, on first use. Otherwise, every entry would read all of it.
  const one = { external: ['zod'], input: { cli: 'src/cli/main.ts' }, output: { codeSplitting: { groups } } };
  const each = { output: { preserveModules: true, entryFileNames: nameOf } };
  return {
    name: 'for-node',
    apply: 'build',
    config: (_, { mode }) =>
      mode === 'bundlers'
        ? { build: { outDir: 'dist/bundlers', rolldownOptions: each } }
        : {
            build: { rolldownOptions: one },
            ssr: { noExternal: ['zod', 'jsonriver', 'stemmer', 'eventsource-parser', 'commander'] },
          },
  };
}

export default defineConfig({
  plugins: [pureSchemas(), withoutDescriptions(), forNode()],
  build: {
    target: 'node20',
    outDir: 'dist',
    license: { fileName: 'LICENSES.md' },
    minify: false,
    sourcemap: false,
    ssr: true,
    rolldownOptions: {
      input: entry,
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
    },
  },
  // One small module of it, for `postchain/restate`: nobody who installs the package gets the rest.
  ssr: { noExternal: ['core-js'] },
  resolve: { alias },
  test: {
    reporters: ['default'],
    // Guards against a hang, not expectations: a machine that is five times as busy must not exceed them.
    testTimeout: isSoak ? 3_600_000 : 900_000,
    hookTimeout: isSoak ? 3_600_000 : 900_000,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 120_000 } },
    // Vitest would leave one of two cores idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: 'test/support/global-setup.ts',
    sequence: { sequencer: SlowFirst },
    projects: [
      // Loading XState and zod again for each file would take a third of the time.
      {
        extends: true,
        test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [...FULL, ...INSTALLED], isolate: false },
      },
      { extends: true, test: { name: 'full', include: FULL, exclude: SOAK } },
      {
        extends: true,
        test: {
          name: 'restate',
          include: ['test/restate/**/*.test.ts'],
          exclude: SOAK,
          globalSetup: 'test/support/restate-setup.ts',
        },
      },
      {
        extends: true,
        test: {
          name: 'runtimes',
          include: ['test/runtimes/**/*.test.ts'],
          exclude: SOAK,
          globalSetup: 'test/support/runtimes-setup.ts',
        },
      },
    ],
    setupFiles: 'test/support/fast-check-seed.ts',
  },
});
