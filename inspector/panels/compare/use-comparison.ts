import { useEffect, useRef, useState } from 'preact/hooks';
import { type Comparison, compareRuns } from '../../fold/compare/comparison.ts';
import type { OpenedRun } from '../../ui-state/opened-run.ts';

/** While entries keep coming, a comparison is made anew this often. */
const LIVE_MS = 500;

interface Made {
  readonly key: string;
  readonly ids: string;
  readonly comparison: Comparison | null;
  /** Why there is none. */
  readonly error: unknown;
}

/** The comparison of these runs, made beside the drawing of the page; null until there is one. Throws where they cannot be compared. */
export function useComparison(runs: readonly OpenedRun[], isReady: boolean): Comparison | null {
  const [made, setMade] = useState<Made | null>(null);
  const due = useRef<ReturnType<typeof setTimeout> | null>(null);
  const latest = useRef(runs);
  latest.current = runs;
  const ids = runs.map(({ runId }) => runId).join('\n');
  const key = runs.map(({ runId, count, charts }) => `${runId} ${count.value} ${charts.value === null}`).join('\n');

  useEffect(() => {
    if (!isReady || made?.key === key || due.current !== null) return;
    const make = (): void => {
      due.current = null;
      const now = latest.current;
      const nowIds = now.map(({ runId }) => runId).join('\n');
      const nowKey = now.map(({ runId, log, charts }) => `${runId} ${log.count} ${charts.peek() === null}`).join('\n');
      setMade({ key: nowKey, ids: nowIds, ...attempted(now) });
    };
    due.current = setTimeout(make, made?.ids === ids ? LIVE_MS : 0);
  }, [key, ids, isReady, made]);

  useEffect(
    () => () => {
      if (due.current !== null) clearTimeout(due.current);
    },
    [],
  );
  if (made?.ids !== ids) return null;
  if (made.comparison === null) throw made.error;
  return made.comparison;
}

/** What goes wrong beside the drawing is told when it is drawn: there somebody hears of it. */
function attempted(runs: readonly OpenedRun[]): Pick<Made, 'comparison' | 'error'> {
  try {
    const compared = runs.map(({ runId, log, fold, charts }) => ({ runId, log, fold, charts: charts.peek() }));
    return { comparison: compareRuns(compared), error: null };
  } catch (error) {
    return { comparison: null, error };
  }
}
