import { createRequire } from 'node:module';
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { RunCharts } from '../../src/inspection/wire.ts';
import type { Drawing } from './drawing.ts';
import { drawAll } from './drawings-of.ts';

/** The same layout as the page's, for a build or a command: by the id of the chart. */
export function drawingsOf(charts: RunCharts): Promise<Record<string, Drawing>> {
  const Elk = createRequire(import.meta.url)('elkjs/lib/elk.bundled.js') as new () => ELK;
  return drawAll(charts, new Elk());
}
