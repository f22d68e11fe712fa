import type { Channel } from './channel.ts';
import type { RunSource, StopFollowing } from './source.ts';
import type { RunCharts } from './wire.ts';

/** Tells a page of a run: its charts, its entries from this number on, and its end, after which `over` is called. Gives what stops it. */
export function follow(source: RunSource, runId: string, from: number, page: Channel, over: () => void): StopFollowing {
  let next = from;
  let isStopped = false;
  let grown: RunCharts | null = null;
  let isTelling = false;

  function tellCharts(): void {
    if (grown !== null && !isStopped) page.say({ type: 'charts', runId, ...grown });
    grown = null;
  }

  /** A page that is slow is told the newest charts, not each that there were. */
  async function tellChartsSoon(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    await page.room();
    isTelling = false;
    tellCharts();
  }

  page.say({ type: 'charts', runId, ...source.charts() });
  const stop = source.follow(from, {
    async lines(lines) {
      if (isStopped) return;
      tellCharts();
      page.say({ type: 'entries', runId, from: next }, lines);
      next += lines.length;
      await page.room();
    },
    charts(charts) {
      grown = charts;
      void tellChartsSoon();
    },
    end(problem) {
      if (isStopped) return;
      tellCharts();
      page.say({ type: 'end', runId, problem });
      over();
    },
  });
  return () => {
    isStopped = true;
    stop();
  };
}
