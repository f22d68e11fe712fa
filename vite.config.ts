import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const entry = {
  index: 'src/index.ts',
  machines: 'machines/index.ts',
  otel: 'src/integrations/otel/index.ts',
  inspection: 'src/inspection/index.ts',
  testing: 'src/testing/index.ts',
  restate: 'src/integrations/restate/index.ts',
  cli: 'src/cli/main.ts',
};

/** Tests that put another module in the place of one, set what a whole process has, or share a browser: each begins with nothing loaded. */
const ALONE = [
  'test/examples/**/*.test.ts',
  'test/inspector/chart/{picture,hands,view}.test.ts',
  'test/src/tools/mcp/options.test.ts',
  'test/src/models/openai-{count-tokens,count-tokens-missing,embeddings-options,missing}.test.ts',
  'test/src/integrations/otel/conventions.test.ts',
  'test/src/engine/streaming/bounds.test.ts',
];

// Those on a real Restate server have a command of their own.
const ELSEWHERE = ['test/restate/**'];

export default defineConfig({
  build: {
    target: 'node20',
    outDir: 'dist',
    minify: false,
    sourcemap: false,
    ssr: true,
    rolldownOptions: { input: entry, output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' } },
  },
  // One small module of it, for `postchain/restate`: nobody who installs the package gets the rest.
  ssr: { noExternal: ['core-js'] },
  resolve: {
    alias: {
      'postchain/restate': new URL('src/integrations/restate/index.ts', import.meta.url).pathname,
      'postchain/inspection': new URL('src/inspection/index.ts', import.meta.url).pathname,
      'postchain/machines': new URL('machines/index.ts', import.meta.url).pathname,
      'postchain/otel': new URL('src/integrations/otel/index.ts', import.meta.url).pathname,
      'postchain/testing': new URL('src/testing/index.ts', import.meta.url).pathname,
      postchain: new URL('src/index.ts', import.meta.url).pathname,
    },
  },
  test: {
    reporters: ['default'],
    testTimeout: 20_000,
    // Vitest would leave one of two cores idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        // To load XState and zod for each of 350 files took a third of the time.
        test: {
          name: 'together',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...ELSEWHERE, ...ALONE],
          globalSetup: 'test/support/tell-seed.ts',
          setupFiles: 'test/support/seeded-draws.ts',
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE } },
    ],
  },
});
