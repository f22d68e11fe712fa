import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { runCharts } from '../src/inspection/source.ts';
import { bakedDrawings, strictPolicy } from './vite-plugins.ts';

const here = import.meta.dirname;

function page(root: string, name: string): UserConfig {
  return {
    root,
    base: './',
    plugins: [bakedDrawings(runCharts())],
    build: {
      target: 'es2023',
      outDir: join(here, '../dist', name),
      emptyOutDir: true,
      modulePreload: false,
      chunkSizeWarningLimit: 2_000,
      // Laying out our charts takes seconds, but only at build time.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  };
}

function filePage(root: string, name: string): UserConfig {
  const { plugins = [], ...config } = page(root, name);
  return { ...config, plugins: [...plugins, viteSingleFile({ removeViteModuleLoader: true }), strictPolicy()] };
}

/** The chart layout: a worker of the served page, and a module that Node imports for charts of other programs. */
const layout: UserConfig = {
  root: here,
  build: {
    target: 'es2023',
    outDir: join(here, '../dist/inspector'),
    emptyOutDir: false,
    modulePreload: false,
    chunkSizeWarningLimit: 2_000,
    rolldownOptions: {
      input: { layout: join(here, 'chart/layout-worker.ts') },
      output: { entryFileNames: '[name].js' },
      preserveEntrySignatures: 'strict',
    },
  },
};

/** Modes: the served inspector (default), the single-file inspector, the coverage page, and the chart layout. */
export default defineConfig(({ mode }) => {
  if (mode === 'file') return filePage(here, 'inspector-file');
  if (mode === 'coverage') return filePage(join(here, 'coverage'), 'inspector-coverage');
  return mode === 'layout' ? layout : page(here, 'inspector');
});
