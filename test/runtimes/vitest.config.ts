import { mergeConfig } from 'vite';
import { defineConfig } from 'vitest/config';
import base from '../../vite.config.ts';

const { projects: _, ...test } = base.test ?? {};

/** Tests in other runtimes and with bundlers (`npm run test:runtimes`). */
export default mergeConfig(
  { ...base, test: { ...test, globalSetup: [] } },
  defineConfig({
    test: { include: ['test/runtimes/**/*.test.ts'], globalSetup: ['test/support/runtimes-setup.ts'] },
  }),
);
