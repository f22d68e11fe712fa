import { useEffect, useRef, useState } from 'preact/hooks';
import type { Inspector } from '../../ui-state/inspector.ts';
import { isHere, loadRuns } from '../../ui-state/load-runs.ts';
import { overlayScope } from '../../ui-state/overlay.ts';

/** They are all kept in this page. */
const MOST_RUNS = 50;

/** Brings the newest runs here, so that they count too. */
export function LoadNewest({ inspector }: { readonly inspector: Inspector }) {
  const newest = inspector.runs.value.slice(0, MOST_RUNS);
  const here = newest.filter(({ runId, live }) =>
    inspector.loaded.value.some((run) => run.runId === runId && isHere(run, live)),
  ).length;
  const [isLoading, setLoading] = useState(false);
  const stop = useRef<() => void>(() => {});
  useEffect(() => () => stop.current(), []);

  function load(): void {
    overlayScope.value = 'loaded';
    setLoading(true);
    stop.current = loadRuns(inspector, newest, (done) => {
      if (done === newest.length) setLoading(false);
    });
  }

  function leaveOff(): void {
    stop.current();
    setLoading(false);
  }

  if (newest.length <= 1) return null;
  if (isLoading)
    return (
      <span class="overlay-loading">
        <progress value={here} max={newest.length} aria-label="Runs loaded" /> {here} of {newest.length}{' '}
        <button type="button" onClick={leaveOff}>
          Stop
        </button>
      </span>
    );
  return (
    <button type="button" onClick={load} disabled={here === newest.length}>
      {here === newest.length
        ? `All ${newest.length} runs are loaded`
        : inspector.runs.value.length > MOST_RUNS
          ? `Load the newest ${MOST_RUNS} runs`
          : `Load all ${newest.length} runs`}
    </button>
  );
}
