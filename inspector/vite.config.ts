import { join } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { runCharts } from '../src/inspection/run-charts.ts';
import { bakedDrawings, strictPolicy } from './vite-plugins.ts';

const here = import.meta.dirname;

/** The page that a server gives, as its files are. */
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
      // The drawings of our charts take their seconds, which is nothing for who installs.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  };
}

/** A page that is one file, which data are put into when there are any. */
function filePage(root: string, name: string): UserConfig {
  const { plugins = [], ...config } = page(root, name);
  return { ...config, plugins: [...plugins, viteSingleFile({ removeViteModuleLoader: true }), strictPolicy()] };
}

/** The layout of charts for Node, with all that it needs: for pages that carry the drawings of charts of anybody. */
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

/** By their modes: the inspector as a server gives it, as a file, the page of coverage, and the layout. */
export default defineConfig(({ mode }) => {
  if (mode === 'file') return filePage(here, 'inspector-file');
  if (mode === 'coverage') return filePage(join(here, 'coverage'), 'inspector-coverage');
  return mode === 'layout' ? layout : page(here, 'inspector');
});
