import { defineConfig } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';
import { runCharts } from '../src/inspection/run-charts.ts';
import { strictPolicy } from './build/strict-policy.ts';
import { bakedDrawings } from './chart/baked-drawings.ts';

/** The page that a server gives, or, in the mode `file`, the one that an exported run is put into. */
export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  base: './',
  plugins: [
    bakedDrawings(runCharts()),
    ...(mode === 'file' ? [viteSingleFile({ removeViteModuleLoader: true }), strictPolicy()] : []),
  ],
  worker: { format: 'es' },
  build: {
    target: 'es2023',
    outDir: mode === 'file' ? '../dist/inspector-file' : '../dist/inspector',
    emptyOutDir: true,
    modulePreload: false,
    chunkSizeWarningLimit: 2_000,
  },
}));
