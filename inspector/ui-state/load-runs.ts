import { effect } from '@preact/signals';
import type { InspectedRun } from '../../src/inspection/wire.ts';
import type { Inspector } from './inspector.ts';
import type { OpenedRun } from './opened-run.ts';

/** All that there is of a run has come; of one under way: something. */
export const isHere = ({ end, count }: OpenedRun, live: boolean): boolean =>
  end.value !== null || (live && count.value > 0);

/** Opens runs one after another, so that no more than one is on its way. Gives what leaves off. */
export function loadRuns(
  inspector: Inspector,
  runs: readonly InspectedRun[],
  told: (here: number) => void,
): () => void {
  let stop = (): void => {};
  let isOver = false;

  function next(at: number): void {
    const run = runs[at];
    told(at);
    if (run === undefined || isOver) return;
    const opened = inspector.follow(run.runId);
    let wentOn = false;
    const stopWaiting = effect(() => {
      if (wentOn || !isHere(opened, run.live)) return;
      wentOn = true;
      // Not within the effect: it would be part of whatever comes next.
      queueMicrotask(() => {
        stopWaiting();
        next(at + 1);
      });
    });
    stop = stopWaiting;
  }

  next(0);
  return () => {
    isOver = true;
    stop();
  };
}
