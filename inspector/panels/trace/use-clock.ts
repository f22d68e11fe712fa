import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunView } from '../../ui-state/inspector.ts';

const TICK_MS = 250;

/**
 * The milliseconds that have passed since the latest entry: of a run in progress it ticks, of any other it is 0. The
 * time of the start tells how old the entry was when the page opened, unless the run was forked or resumed since.
 */
export function useClock({ run, fold, count, end }: RunView): number {
  const isTicking = end === null && (run.live || run.status === 'running');
  const [, tick] = useState(0);
  const latest = useRef({ count: -1, atMs: 0 });
  if (latest.current.count !== count) {
    const startedMs = Date.parse(run.startedAt) + fold.timeLine.atMs(count - 1);
    const isFirst = latest.current.count < 0 && run.forkedFrom === undefined && fold.entries.of('resumed').length === 0;
    latest.current = { count, atMs: isFirst && startedMs < Date.now() ? startedMs : Date.now() };
  }
  useEffect(() => {
    if (!isTicking) return undefined;
    const timer = setInterval(() => tick((times) => times + 1), TICK_MS);
    return () => clearInterval(timer);
  }, [isTicking]);
  return isTicking ? Math.max(0, Date.now() - latest.current.atMs) : 0;
}
