import type { Plugin } from 'vite';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartDigest } from './charts-digest.ts';
import type { Drawing } from './drawing.ts';
import { drawingsOf } from './drawings-in-node.ts';

const NAME = 'virtual:drawings';

/** Lays charts out while the page is built: the page has their drawings in it, by digest, and shows them at once. */
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

/** The drawings by the digests of their charts. */
async function bake(charts: RunCharts): Promise<Record<string, Drawing>> {
  const drawings = await drawingsOf(charts);
  return Object.fromEntries(Object.entries(drawings).map(([id, drawing]) => [chartDigest(id, charts), drawing]));
}
