import { z } from 'zod';
import { limitsSchema, MAX_TIMER_MS } from '../../machines/contracts/budget.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { RunStart } from '../../machines/contracts/journal-entry.ts';
import type { ChainParts } from '../runtime/actors.ts';
import { inputOf } from '../runtime/chain-input.ts';
import type { PostChainOptions } from '../runtime/options.ts';
import type { RunOptions } from '../runtime/run-options.ts';
import { inputOfStart, runStart } from '../runtime/run-start.ts';
import { type Patience, timedModel } from './timed-model.ts';

/** What a run on a cluster is started with: JSON. */
export type DurableRunOptions = Omit<RunOptions, 'signal'>;

const patienceSchema = limitsSchema.pick({ firstChunkMs: true, chunkMs: true });

/**
 * What the run goes by from here on, whatever the options of a process that plays it later are. The charts hear of a call when it is
 * over, so their own two time-outs of a reply stand out of the way, and the calls keep them: they are in `host`.
 *
 * @throws PostChainError `invalid_request` or `invalid_option`.
 */
export function startOf(
  runId: string,
  asked: DurableRunOptions,
  options: PostChainOptions,
  parts: ChainParts,
): RunStart {
  const { limits, ...input } = inputOf(asked, { ...options, newId: () => runId }, parts);
  const { firstChunkMs, chunkMs } = limits;
  const raised = { ...limits, firstChunkMs: MAX_TIMER_MS, chunkMs: MAX_TIMER_MS };
  return { ...runStart({ ...input, limits: raised }, parts), host: { firstChunkMs, chunkMs } };
}

/**
 * The parts for a run that was started so.
 *
 * @throws PostChainError `invalid_journal` where it was started on another chart than this process has.
 */
export function partsFor(start: RunStart, parts: ChainParts): ChainParts {
  const { chart } = runStart(inputOfStart(start), parts);
  if (chart.digest !== start.chart.digest)
    throw new PostChainError(
      'invalid_journal',
      `The run was started on the chart ${start.chart.digest}; this process has ${chart.digest}: serve it with the version of postchain that started it.`,
    );
  const patience: Patience = z.object(patienceSchema.shape).parse(start.host);
  const [first, ...others] = parts.models;
  return {
    ...parts,
    models: [
      timedModel(first, patience, parts.clock),
      ...others.map((model) => timedModel(model, patience, parts.clock)),
    ],
  };
}
