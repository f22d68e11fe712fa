import { type LaidOut, type LayoutRequest, tooLarge } from './drawing.ts';
import { drawingsOf } from './layout-charts.ts';

/** Lays out arbitrary charts, except those that are too large; first the whole charts, without the insides of their states. `problem`: why some or all are missing. */
async function layOut({ charts, invoked, aspect }: LayoutRequest, onPart: (part: LaidOut) => void): Promise<LaidOut> {
  try {
    const drawn = charts.filter((chart) => tooLarge({ charts: [chart], invoked }) === null);
    const problem = tooLarge({ charts, invoked });
    const onWhole = (drawings: LaidOut['drawings']): void => onPart({ drawings, problem, isPart: true });
    const drawings = await drawingsOf(drawn, onWhole, aspect);
    return { drawings, problem };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { drawings: null, problem: `The chart could not be laid out: ${reason}` };
  }
}

self.addEventListener('message', async ({ data }: MessageEvent<LayoutRequest>) => {
  self.postMessage(await layOut(data, (part) => self.postMessage(part)));
});
