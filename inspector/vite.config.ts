import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { runCharts } from '../src/inspection/source.ts';
import { bakedDrawings, strictPolicy } from './vite-plugins.ts';

const here = import.meta.dirname;

/** The page as served by the inspection server. */
function page(root: string, name: string): UserConfig {
  return {
    root,
    base: './',
    plugins: [bakedDrawings(runCharts())],
    worker: { format: 'es' },
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

/** A single-file page that data is inserted into. */
function filePage(root: string, name: string): UserConfig {
  const { plugins = [], ...config } = page(root, name);
  return { ...config, plugins: [...plugins, viteSingleFile({ removeViteModuleLoader: true }), strictPolicy()] };
}

/** The chart layout for Node, bundled: for pages that contain drawings of arbitrary charts. */
const layout: UserConfig = {
  root: here,
  ssr: { noExternal: true },
  build: {
    target: 'node20',
    outDir: join(here, '../dist/inspector-layout'),
    emptyOutDir: true,
    ssr: true,
    minify: true,
    rolldownOptions: { input: { layout: join(here, 'chart/drawings-in-node.ts') } },
  },
};

/** Modes: the served inspector, the single-file inspector, the coverage page, and the layout for Node. */
export default defineConfig(({ mode }) => {
  if (mode === 'file') return filePage(here, 'inspector-file');
  if (mode === 'coverage') return filePage(join(here, 'coverage'), 'inspector-coverage');
  return mode === 'layout' ? layout : page(here, 'inspector');
});
