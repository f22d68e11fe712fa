import { defineConfig } from 'vite';

const here = (path: string): string => new URL(`../../${path}`, import.meta.url).pathname;

/** Your own project needs no aliases: it installs `postchain`. */
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
