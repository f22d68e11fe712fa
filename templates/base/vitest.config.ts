import { defineConfig } from 'vitest/config';

// Without this file, Vitest uses the configuration of a project around this one.
export default defineConfig({ test: { dir: 'src' } });
