import { defineConfig } from 'vitest/config';

// Without this file, Vitest uses the configuration of a project around this one. The times are guards against a hang, for busy machines too.
export default defineConfig({ test: { dir: 'src', testTimeout: 60_000, expect: { poll: { timeout: 30_000 } } } });
