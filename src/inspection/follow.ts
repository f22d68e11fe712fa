import type { Channel } from './channel.ts';
import type { RunSource, StopFollowing } from './source.ts';

/** Tells a page of a run: its charts, its entries from this number on, and its end, after which `over` is called. Gives what stops it. */
export function follow(source: RunSource, runId: string, from: number, page: Channel, over: () => void): StopFollowing {
  let next = from;
  let isStopped = false;
  page.say({ type: 'charts', runId, ...source.charts() });
  const stop = source.follow(from, {
    async lines(lines) {
      if (isStopped) return;
      page.say({ type: 'entries', runId, from: next }, lines);
      next += lines.length;
      await page.room();
    },
    charts(charts) {
      if (!isStopped) page.say({ type: 'charts', runId, ...charts });
    },
    end(problem) {
      if (isStopped) return;
      page.say({ type: 'end', runId, problem });
      over();
    },
  });
  return () => {
    isStopped = true;
    stop();
  };
}
