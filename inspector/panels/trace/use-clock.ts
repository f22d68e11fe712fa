import { useEffect, useRef, useState } from 'preact/hooks';
import type { EntryOf } from '../../fold/entry-index.ts';
import type { RunView } from '../../ui-state/inspector.ts';

const TICK_MS = 250;

/** When the clock of a run stood at 0, in milliseconds since the epoch; NaN if that is unknown. */
function clockStart({ run, log, fold }: RunView): number {
  const resumed = fold.entries.of('resumed').at(-1);
  if (resumed !== undefined)
    return Date.parse((log.entry(resumed) as EntryOf<'resumed'>).resumedAt) - fold.timeLine.atMs(resumed);
  return run.forkedFrom === undefined ? Date.parse(run.startedAt) : (run.summary?.clockStartMs ?? Number.NaN);
}

/** The milliseconds since the latest entry: of a run that goes on or waits it ticks, of any other it is 0. */
export function useClock(view: RunView): number {
  const { run, fold, count, end } = view;
  const isTicking = run.status === 'waiting' || (end === null && (run.live || run.status === 'running'));
  const [, tick] = useState(0);
  const latest = useRef({ count: -1, atMs: 0 });
  if (latest.current.count !== count) {
    const recordedAt = clockStart(view) + fold.timeLine.atMs(count - 1);
    latest.current = { count, atMs: Number.isFinite(recordedAt) ? recordedAt : Date.now() };
  }
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => tick((times) => times + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return isTicking ? Math.max(0, Date.now() - latest.current.atMs) : 0;
}
