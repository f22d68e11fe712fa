import { mergeConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import base from '../../vite.config.ts';

const { projects: _, ...test } = base.test ?? {};

/** The tests on a real server: `npm run test:restate`. One file after the other: each has servers of its own. */
export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['test/restate/**/*.test.ts'],
      globalSetup: ['test/restate/rig/global-setup.ts'],
      fileParallelism: false,
      testTimeout: 60_000,
      hookTimeout: 60_000,
    },
  }),
);
