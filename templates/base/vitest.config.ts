import { defineConfig } from 'vitest/config';

// Without this file, Vitest uses the configuration of a project around this one. The times only end a test that hangs, on busy machines too.
export default defineConfig({ test: { dir: 'src', testTimeout: 60_000, expect: { poll: { timeout: 30_000 } } } });
