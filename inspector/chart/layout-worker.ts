import type { RunCharts } from '../../src/inspection/wire.ts';
import { type LaidOut, tooLarge } from './drawing.ts';
import { drawingsOf } from './layout-charts.ts';

/** Lays out arbitrary charts, except those that are too large. `problem`: why some or all are missing. */
async function layOut({ charts, invoked }: RunCharts): Promise<LaidOut> {
  try {
    const drawn = charts.filter((chart) => tooLarge({ charts: [chart], invoked }) === null);
    return { drawings: await drawingsOf(drawn), problem: tooLarge({ charts, invoked }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${reason}` };
  }
}

self.addEventListener('message', async ({ data }: MessageEvent<RunCharts>) => {
  self.postMessage(await layOut(data));
});
