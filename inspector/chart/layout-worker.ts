import type { RunCharts } from '../../src/inspection/wire.ts';

import type { LaidOut } from './drawing.ts';
import { tooLarge } from './drawing.ts';
import { drawingsOf } from './layout-charts.ts';

/** Lays out arbitrary charts; skips charts that are too large. `problem` gives the reason if drawings are missing. */
async function layOut({ charts, invoked }: RunCharts): Promise<LaidOut> {
  const drawn = charts.filter((chart) => tooLarge({ charts: [chart], invoked }) === null);
  try {
    return { drawings: await drawingsOf({ charts: drawn, invoked }), problem: tooLarge({ charts, invoked }) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${reason}` };
  }
}

/** Built as one file for two uses: Node imports `layOut`; in the page it is a worker that answers each message. */
export { layOut };

if ('WorkerGlobalScope' in globalThis)
  self.addEventListener('message', async ({ data }: MessageEvent<RunCharts>) => {
    self.postMessage(await layOut(data));
  });
