import * as bundled from 'elkjs/lib/elk.bundled.js';
import type { ELK } from 'elkjs/lib/elk-api.js';
import type { RunCharts } from '../../src/inspection/wire.ts';
import { drawAll } from './drawings-of.ts';

const Elk = bundled.default as unknown as new () => ELK;

/** Lays out the charts of one message; answers with `{ drawings }` or `{ problem }`. */
self.addEventListener('message', async ({ data }: MessageEvent<RunCharts>) => {
  try {
    self.postMessage({ drawings: await drawAll(data, new Elk()) });
  } catch (error) {
    self.postMessage({ problem: error instanceof Error ? error.message : String(error) });
  }
});
