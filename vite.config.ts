import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const entry = {
  index: 'src/index.ts',
  machines: 'machines/index.ts',
  otel: 'src/otel/index.ts',
  inspection: 'src/inspection/index.ts',
  testing: 'src/testing/index.ts',
  durable: 'src/durable/index.ts',
  cli: 'src/cli/main.ts',
};

/** Tests that put another module in the place of one, set what a whole process has, or share a browser: each begins with nothing loaded. */
const ALONE = [
  'test/examples/**/*.test.ts',
  'test/inspector/chart/{picture,hands,view}.test.ts',
  'test/src/capabilities/mcp/options.test.ts',
  'test/src/models/openai-{count-tokens,count-tokens-missing,embeddings-options,missing}.test.ts',
  'test/src/otel/conventions.test.ts',
  'test/src/streaming/bounds.test.ts',
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
  // One small module of it, for `postchain/durable`: nobody who installs the package gets the rest.
  ssr: { noExternal: ['core-js'] },
  resolve: {
    alias: {
      'postchain/durable': new URL('src/durable/index.ts', import.meta.url).pathname,
      'postchain/inspection': new URL('src/inspection/index.ts', import.meta.url).pathname,
      'postchain/machines': new URL('machines/index.ts', import.meta.url).pathname,
      'postchain/otel': new URL('src/otel/index.ts', import.meta.url).pathname,
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
