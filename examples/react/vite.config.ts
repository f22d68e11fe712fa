import { defineConfig } from 'vite';

const here = (path: string): string => new URL(`../../${path}`, import.meta.url).pathname;

/** In a project of your own the aliases go: `postchain` is installed there. */
export default defineConfig({
  base: './',
  resolve: {
    alias: [
      { find: 'postchain/machines', replacement: here('machines/index.ts') },
      { find: 'postchain/testing', replacement: here('src/testing/index.ts') },
      { find: 'postchain', replacement: here('src/index.ts') },
    ],
  },
});
