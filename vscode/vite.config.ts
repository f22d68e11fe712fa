import { builtinModules } from 'node:module';
import { defineConfig, type UserConfig } from 'vite';

/** What VS Code loads, what it starts as a process, and what the page of the chart loads. */
const BUILDS: Readonly<Record<string, UserConfig['build']>> = {
  extension: {
    lib: { entry: 'src/extension.ts', formats: ['cjs'], fileName: () => 'extension.cjs' },
    rollupOptions: { external: ['vscode', /^node:/, ...builtinModules] },
  },
  server: {
    ssr: true,
    rollupOptions: { input: ['src/server.ts', 'src/overlay.mjs'], output: { entryFileNames: '[name].mjs' } },
  },
  chart: { lib: { entry: 'src/chart.ts', formats: ['iife'], name: 'chart', fileName: () => 'chart.js' } },
};

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  define: { 'process.env.NODE_ENV': '"production"' },
  ssr: { noExternal: true },
  resolve: mode === 'chart' ? {} : { conditions: ['node'], mainFields: ['module', 'main'] },
  build: { outDir: 'dist', emptyOutDir: mode === 'extension', minify: true, ...BUILDS[mode] },
}));
