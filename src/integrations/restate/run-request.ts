import { MAX_TIMER_MS } from '../../../machines/contracts/budget.ts';
import { PostChainError } from '../../../machines/contracts/error.ts';
import type { RunStart } from '../../../machines/contracts/journal-entry.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { inputOf } from '../../engine/runtime/chain-input.ts';
import type { RunOptions } from '../../engine/runtime/run-options.ts';
import { chartVersion, runStart } from '../../engine/runtime/run-start.ts';
import { type Patience, timedModel } from './timed-model.ts';

/** What a run on a cluster is started with: JSON. */
export type RestateRunOptions = Omit<RunOptions, 'signal'>;

/** What a run goes by from its start on, whatever the options are of a process that plays it later. */
export interface DurableStart {
  readonly start: RunStart;
  readonly patience: Patience;
}

/**
 * The charts hear of a call when it is over, so their own two time-outs of a reply are set out of the way; the calls keep them.
 *
 * @throws PostChainError `invalid_request` or `invalid_option`.
 */
export function startOf(runId: string, asked: RestateRunOptions, parts: ChainParts): DurableStart {
  const { limits, ...input } = inputOf(asked, { ...parts, newRunId: () => runId });
  const { firstChunkMs, chunkMs } = limits;
  const raised = { ...limits, firstChunkMs: MAX_TIMER_MS, chunkMs: MAX_TIMER_MS };
  return {
    start: runStart({ ...input, limits: raised }, parts, { host: asked.host ?? null }),
    patience: { firstChunkMs, chunkMs },
  };
}

/**
 * The parts for a run that was started so.
 *
 * @throws PostChainError `invalid_journal` where it was started on another chart than this process has.
 */
export function partsFor({ start: { chart }, patience }: DurableStart, parts: ChainParts): ChainParts {
  const { digest } = chartVersion();
  if (chart.digest !== digest)
    throw new PostChainError(
      'invalid_journal',
      `The run was started on the chart ${chart.digest}; this process has ${digest}: serve it with the version of postchain that started it.`,
    );
  const [first, ...others] = parts.models;
  const timed = (model: typeof first) => timedModel(model, patience, parts.clock);
  return { ...parts, models: [timed(first), ...others.map(timed)] };
}
