import { mergeConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import base from '../../vite.config.ts';

const { projects: _, ...test } = base.test ?? {};

/** Tests on a real Restate server (`npm run test:restate`), one file at a time: each starts its own servers. */
export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['test/restate/**/*.test.ts'],
      globalSetup: ['test/support/restate-setup.ts'],
      fileParallelism: false,
    },
  }),
);
