import type { RunFold } from '../run-fold.ts';

/** A run in numbers. */
export interface RunTotals {
  readonly cycles: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly tokens: number;
  readonly ms: number;
}

export function totalsOf({ spans, timeLine }: RunFold): RunTotals {
  let [tokens, failedCalls] = [0, 0];
  for (const { usage, failure } of spans.attempts) {
    tokens += (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
    if (failure !== null) failedCalls += 1;
  }
  return {
    cycles: spans.phases.at(-1)?.cycle ?? 0,
    calls: spans.attempts.length,
    failedCalls,
    tokens,
    ms: timeLine.atMs(timeLine.count - 1),
  };
}
