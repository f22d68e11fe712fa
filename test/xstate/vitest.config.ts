import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What the tests import as the source of XState: the installed package, with a `createActor` that records. */
const recorded = `
  export * from 'xstate';
  export * from 'xstate/actions';
  export * from 'xstate/actors';
  export * from 'xstate/guards';
  export { createActor, createActor as interpret } from ${JSON.stringify(here('recorder.ts'))};
`;

/**
 * What XState's SCXML converter imports. The converter turns event types into wildcards after `createMachine` has run; copies of the machine
 * would lose that, so it is done in the config instead.
 */
const forScxml = `
  import { createMachine as create } from 'xstate';
  export * from 'xstate';
  export * from 'xstate/actions';
  export * from 'xstate/guards';
  export const NULL_EVENT = '';
  export const mapValues = (record, map) =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value, key)]));
  const withWildcards = ({ on = {}, states = {}, ...state }) => ({
    ...state,
    on: Object.fromEntries(Object.entries(on).map(([type, value]) => [type.endsWith('*') ? type : type + '.*', value])),
    states: mapValues(states, withWildcards),
  });
  export const createMachine = (config) => create(withWildcards(config));
`;

/** Follows fake timers, as the platform's module does not. */
const timers = `
  const setTimeout = (ms, value) => new Promise((resolve) => globalThis.setTimeout(resolve, ms, value));
  export { setTimeout };
`;

const MODULES: Readonly<Record<string, string>> = {
  '\0recorded': recorded,
  '\0for-scxml': forScxml,
  '\0timers': timers,
  '\0empty': 'export {}',
};

const instead: Plugin = {
  name: 'recorded-xstate',
  enforce: 'pre',
  resolveId(source, importer = '') {
    if (source === 'node:timers/promises') return '\0timers';
    if (importer.endsWith('/packages/core/src/scxml.ts') && source.startsWith('.')) return '\0for-scxml';
    const isSource = /^(?:\.\.\/)+src(?:\/|$)/u.test(source) && importer.includes('/packages/core/test/');
    if (!isSource || source.endsWith('/scxml')) return null;
    // Tests mock this module of the source.
    return source.endsWith('/reportUnhandledError.ts') ? '\0empty' : '\0recorded';
  },
  load: (id) => MODULES[id] ?? null,
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
