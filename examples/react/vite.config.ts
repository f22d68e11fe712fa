import { defineConfig } from 'vite';

const here = (path: string): string => new URL(`../../${path}`, import.meta.url).pathname;

/** Your own project needs no aliases: it installs `postchain`. */
export default defineConfig({
  base: './',
  resolve: {
    alias: [
      { find: 'postchain/machines', replacement: here('src/entries/machines.ts') },
      { find: 'postchain/testing', replacement: here('src/entries/testing.ts') },
      { find: 'postchain', replacement: here('src/entries/index.ts') },
    ],
  },
});
