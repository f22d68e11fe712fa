import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { type Drawing, type LaidOut, tooLarge } from './drawing.ts';
import { drawAll } from './drawings-of.ts';

const Elk = bundled.default as unknown as new () => ELK;

/** The same layout as the page's, for a build or a command: by the id of the chart. */
export function drawingsOf(charts: RunCharts): Promise<Record<string, Drawing>> {
  return drawAll(charts, new Elk());
}

/** Lays out arbitrary charts; skips charts that are too large. `problem` gives the reason if drawings are missing. */
export async function layOut({ charts, invoked }: RunCharts): Promise<LaidOut> {
  const drawn = charts.filter((chart) => tooLarge({ charts: [chart], invoked }) === null);
  try {
    return { drawings: await drawingsOf({ charts: drawn, invoked }), problem: tooLarge({ charts, invoked }) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${why}` };
  }
}
