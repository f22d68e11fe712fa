import { chartCoverage } from 'postchain/testing';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', chartCoverage({ thresholds: { states: 100, transitions: 90 } })],
  },
});
