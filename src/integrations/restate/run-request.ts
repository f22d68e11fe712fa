import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { RunStart } from '../../../machines/contracts/journal.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';

import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import type { Clock } from '../../engine/clock.ts';
import type { ChainParts } from '../../engine/runtime/actors.ts';
import { chartVersion, createRunStart } from '../../engine/runtime/run.ts';
import { createChainInput, type RunOptions } from '../../engine/runtime/run-options.ts';
import { onAbort } from '../../internal/async.ts';

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
  const { limits, ...input } = createChainInput(asked, { ...parts, newRunId: () => runId });
  const { firstChunkMs, chunkMs } = limits;
  const raised = { ...limits, firstChunkMs: MAX_TIMER_MS, chunkMs: MAX_TIMER_MS };
  return {
    start: createRunStart({ ...input, limits: raised }, parts, { host: asked.host ?? null }),
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

/** How long a call may be silent, in milliseconds: before its first part, and between two. */
interface Patience {
  readonly firstChunkMs: number;
  readonly chunkMs: number;
}

/**
 * A model whose calls keep their own time: one that is silent too long fails as the attempt machine would have it fail. For where that
 * machine hears of a call only when it is over.
 */
export function timedModel(model: ChatModel, patience: Patience, clock: Clock): ChatModel {
  return {
    get id() {
      return model.id;
    },
    get contextWindowTokens() {
      return model.contextWindowTokens;
    },
    get nativeTools() {
      return model.nativeTools === true;
    },
    ...(model.countTokens && { countTokens: (texts) => model.countTokens?.(texts) ?? Promise.resolve([]) }),
    stream: (request, { signal }) => timedParts(model, request, { signal, patience, clock }),
  };
}

interface Timing {
  readonly signal: AbortSignal;
  readonly patience: Patience;
  readonly clock: Clock;
}

async function* timedParts(
  model: ChatModel,
  request: ModelRequest,
  { signal, patience, clock }: Timing,
): AsyncIterable<ModelPart> {
  const controller = new AbortController();
  const forget = onAbort(signal, () => controller.abort());
  if (signal.aborted) controller.abort();
  try {
    const parts = model.stream(request, { signal: controller.signal })[Symbol.asyncIterator]();
    let failure = noReply(patience);
    let waitMs = patience.firstChunkMs;
    for (;;) {
      const step = await within(waitMs, clock, parts.next());
      if (step === null) return yield { type: 'failure', failure };
      if (step.done) return;
      yield step.value;
      failure = stalled(patience);
      waitMs = patience.chunkMs;
    }
  } finally {
    forget();
    controller.abort();
  }
}

/** Null where it takes longer. */
function within<Value>(ms: number, clock: Clock, work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(null), ms);
    work.then(resolve, reject).finally(() => clock.clearTimeout(timer));
  });
}

function noReply({ firstChunkMs }: Patience): Failure {
  return failureOf('transport', 'no_reply', `No reply began within ${firstChunkMs} ms.`);
}

function stalled({ chunkMs }: Patience): Failure {
  return failureOf('transport', 'stalled', `The reply stopped for more than ${chunkMs} ms.`);
}
