import { defineConfig } from 'vite';

const here = (path: string): string => new URL(`../../${path}`, import.meta.url).pathname;

/** Your own project needs no aliases: it installs `postchain`. */
export default defineConfig({
  base: './',
  build: { rolldownOptions: { input: ['index.html', 'server.html'].map((name) => here(`examples/react/${name}`)) } },
  resolve: {
    alias: [
      { find: 'postchain/machines', replacement: here('src/entries/machines.ts') },
      { find: 'postchain/react', replacement: here('src/entries/react.ts') },
      { find: 'postchain/testing', replacement: here('src/entries/testing.ts') },
      { find: 'postchain', replacement: here('src/entries/index.ts') },
    ],
  },
});
