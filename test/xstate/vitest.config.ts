import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const RECORDED = '\0recorded-xstate';
const TIMERS = '\0timers';

/** What the tests import as the source of XState: the installed package, with a `createActor` that records. */
const recorded = `
  export * from 'xstate';
  export * from 'xstate/actions';
  export * from 'xstate/actors';
  export * from 'xstate/guards';
  export { createActor, createActor as interpret } from ${JSON.stringify(here('recorder.ts'))};
`;

/** Follows fake timers, as the platform's module does not. */
const timers = `
  const setTimeout = (ms, value) => new Promise((resolve) => globalThis.setTimeout(resolve, ms, value));
  export { setTimeout };
`;

const instead: Plugin = {
  name: 'recorded-xstate',
  enforce: 'pre',
  resolveId(source, importer) {
    if (source === 'node:timers/promises') return TIMERS;
    const isSource = /^(?:\.\.\/)+src(?:\/|$)/u.test(source) && importer?.includes('/packages/core/test/');
    return isSource ? RECORDED : null;
  },
  load: (id) => (id === RECORDED ? recorded : id === TIMERS ? timers : null),
};

/** Runs XState's own tests, in the folder that `xstate-suite.full.test.ts` has unpacked. */
export default defineConfig({
  plugins: [instead],
  test: {
    globals: true,
    include: ['packages/core/test/**/*.test.ts'],
    setupFiles: [here('recorder.ts')],
    testTimeout: 4_000,
    hookTimeout: 900_000,
    maxWorkers: 2,
  },
});
