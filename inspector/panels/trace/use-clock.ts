import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { RunStart } from '../../../machines/contracts/journal.ts';
import type { EntryOf } from '../../fold/entry-index.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import type { PanelView } from '../../ui-state/inspector.ts';

const TICK_MS = 250;

/** One clock for the whole page: each tick renders again what shows a running time. */
const ticks = signal(0);
let users = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** When the clock of a run stood at 0 as of an entry, in milliseconds since the epoch; NaN if that is unknown. Each process that continues a run sets it again. */
export function clockStart(
  { run, log, fold }: Pick<PanelView, 'run' | 'log' | 'fold'>,
  at = Number.POSITIVE_INFINITY,
): number {
  const resumed = lastUpTo(fold.entries.of('resumed'), at);
  if (resumed !== undefined)
    return Date.parse((log.entry(resumed) as EntryOf<'resumed'>).resumedAt) - fold.timeLine.atMs(resumed);
  const { forkedFrom, startedAt }: Partial<RunStart> = Object(log.count > 0 ? log.entry(0) : null);
  // What a fork has copied happened when its original did it.
  const isCopied = forkedFrom != null && at !== Number.POSITIVE_INFINITY;
  return isCopied ? Date.parse(startedAt ?? '') : (forkedFrom?.clockStartMs ?? Date.parse(run.startedAt));
}

/** Returns the milliseconds since the latest entry. They increase while a run is in progress or waits; for any other run, they are 0. */
export function useClock(view: PanelView): number {
  const { run, fold, count, end } = view;
  const isTicking = run.status === 'waiting' || (end === null && (run.live || run.status === 'running'));
  const latest = useRef({ count: -1, atMs: 0 });
  if (latest.current.count !== count) {
    const recordedAt = clockStart(view) + fold.timeLine.atMs(count - 1);
    latest.current = { count, atMs: Number.isFinite(recordedAt) ? recordedAt : Date.now() };
  }
  useEffect(() => {
    if (!isTicking) return undefined;
    users += 1;
    timer ??= setInterval(() => {
      ticks.value += 1;
    }, TICK_MS);
    return () => {
      users -= 1;
      if (users > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  }, [isTicking]);
  if (!isTicking) return 0;
  // The time in an exported page ends with its export.
  if (run.exportedAt !== undefined) return Math.max(0, Date.parse(run.exportedAt) - latest.current.atMs) || 0;
  void ticks.value;
  return Math.max(0, Date.now() - latest.current.atMs);
}
