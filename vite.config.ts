import { defineConfig } from 'vitest/config';

const entry = {
  index: 'src/index.ts',
  machines: 'machines/index.ts',
  otel: 'src/otel/index.ts',
  testing: 'src/testing/index.ts',
  cli: 'src/cli/main.ts',
};

export default defineConfig({
  build: {
    target: 'node20',
    outDir: 'dist',
    minify: false,
    sourcemap: false,
    ssr: true,
    rolldownOptions: { input: entry, output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' } },
  },
  resolve: {
    alias: {
      'postchain/machines': new URL('machines/index.ts', import.meta.url).pathname,
      'postchain/otel': new URL('src/otel/index.ts', import.meta.url).pathname,
      'postchain/testing': new URL('src/testing/index.ts', import.meta.url).pathname,
      postchain: new URL('src/index.ts', import.meta.url).pathname,
    },
  },
  test: { include: ['test/**/*.test.ts'], reporters: ['default'], testTimeout: 20_000 },
});
