import type { RunCharts } from '../../src/inspection/wire.ts';
import { layOut } from './layout-charts.ts';

/** Built as one file for two uses: Node imports `layOut`; in the page it is a worker that answers each message. */
export { layOut };

if ('WorkerGlobalScope' in globalThis)
  self.addEventListener('message', async ({ data }: MessageEvent<RunCharts>) => {
    self.postMessage(await layOut(data));
  });
