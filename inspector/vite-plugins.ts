import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import type { RunCharts } from '../src/inspection/wire.ts';
import { chartDigest, type Drawing } from './chart/drawing.ts';
import { drawingsOf } from './chart/layout-charts.ts';

const NAME = 'virtual:drawings';

/** Lays out charts at build time, so that the page shows them at once. The drawings are keyed by chart digest. */
export function bakedDrawings(charts: RunCharts): Plugin {
  return {
    name: 'baked-drawings',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: async (id) => {
      if (id !== `\0${NAME}`) return null;
      const baked = await bake(charts);
      return `export const baked = JSON.parse(${JSON.stringify(JSON.stringify(baked))});`;
    },
  };
}

const CACHE = join(import.meta.dirname, '../node_modules/.cache/drawings');

/** Returns the drawings by the digests of their charts. Laying out takes seconds, so builds of the same charts by the same code share a file. */
export async function bake(charts: RunCharts): Promise<Record<string, Drawing>> {
  const path = join(CACHE, `${digestOf(charts)}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
  const drawings = await drawingsOf(charts.charts);
  const baked = Object.fromEntries(charts.charts.map((chart) => [chartDigest(chart), drawings[chart.id] as Drawing]));
  mkdirSync(CACHE, { recursive: true });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(baked));
  renameSync(temporary, path);
  return baked;
}

/** Changes with the charts and with everything that lays them out. */
function digestOf(charts: RunCharts): string {
  const digest = createHash('sha256').update(JSON.stringify(charts));
  for (const folder of ['chart', 'fold'])
    for (const name of readdirSync(join(import.meta.dirname, folder)).sort())
      if (name.endsWith('.ts')) digest.update(readFileSync(join(import.meta.dirname, folder, name)));
  return digest.update(readFileSync(join(import.meta.dirname, '../node_modules/elkjs/package.json'))).digest('hex');
}
