import type { Failure } from '../../../machines/contracts/failure.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import type { AttachedFile } from '../../../machines/contracts/message.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { requireSameChart } from '../../chain/journal/replay.ts';
import { runStartOf } from '../../chain/journal/run-start.ts';
import { readEntry } from '../../chain/journal/stored-entries.ts';
import { type ChainParts, provideChain } from '../../chain/runtime/actors.ts';
import { productOf } from '../../chain/runtime/run.ts';
import { createChainInput, type RunOptions } from '../../chain/runtime/run-options.ts';
import type { Clock } from '../../durable/clock.ts';
import { createCodec, type Json } from '../../durable/codec.ts';
import type { StartEntry } from '../../durable/entries.ts';
import { startEntry } from '../../durable/replay.ts';
import { onAbort } from '../../internal/async.ts';
import type { JsonSchema } from '../../internal/standard-schema.ts';

/** The input of a run on Restate: JSON. */
export type RestateRunOptions = Omit<RunOptions<JsonSchema>, 'signal'>;

/** The record of a run's start. A process that takes over uses it instead of its own options. */
export interface RestateStart {
  readonly start: StartEntry;
  readonly files: readonly AttachedFile[];
  readonly patience: ReplyTimeouts;
}

/**
 * Validates a request and returns the start of its run. On Restate, the charts receive a reply only when it is complete, so the charts'
 * reply time-outs are disabled, and the model calls enforce them instead.
 *
 * @throws PostChainError `invalid_request`, `unsupported_file` or `invalid_option`.
 */
export function restateStart(runId: string, request: RestateRunOptions, parts: ChainParts): RestateStart {
  const {
    input: { limits, ...input },
    files,
  } = createChainInput(request, { ...parts, newRunId: () => runId });
  const { firstChunkMs, chunkMs } = limits;
  const chartInput = { ...input, limits: { ...limits, firstChunkMs: MAX_TIMER_MS, chunkMs: MAX_TIMER_MS } };
  return {
    start: startEntry(provideChain(parts), {
      actorId: runId,
      input: createCodec().encode(chartInput, 'input'),
      product: productOf(chartInput, parts, request.host ?? null) as unknown as Json,
      // The charts use no random numbers.
      seed: 0,
      startedAtMs: parts.clock.now(),
    }),
    files,
    patience: { firstChunkMs, chunkMs },
  };
}

/**
 * Returns the parts for a started run.
 *
 * @throws PostChainError `invalid_journal` if the run was started with another version of the chart.
 */
export function partsFor({ start, patience }: RestateStart, parts: ChainParts): ChainParts {
  requireSameChart(runStartOf([readEntry({ seq: 0, atMs: 0, ...start })]));
  const [first, ...others] = parts.models;
  const timed = (model: typeof first) => timedModel(model, patience, parts.clock);
  return { ...parts, models: [timed(first), ...others.map(timed)] };
}

/** The maximum time to the first part of a reply, and between two parts, in milliseconds. */
interface ReplyTimeouts {
  readonly firstChunkMs: number;
  readonly chunkMs: number;
}

/** Returns a model that enforces the reply time-outs itself. Its failures are those of the attempt machine. */
export function timedModel(model: ChatModel, timeouts: ReplyTimeouts, clock: Clock): ChatModel {
  return {
    get id() {
      return model.id;
    },
    get contextWindowTokens() {
      return model.contextWindowTokens;
    },
    maxOutputTokens: model.maxOutputTokens,
    ...(model.accepts && { accepts: model.accepts }),
    get nativeTools() {
      return model.nativeTools === true;
    },
    ...(model.countTokens && { countTokens: (texts) => model.countTokens?.(texts) ?? Promise.resolve([]) }),
    stream: (request, { signal }) => timedParts(model, request, { signal, timeouts, clock }),
  };
}

interface Timing {
  readonly signal: AbortSignal;
  readonly timeouts: ReplyTimeouts;
  readonly clock: Clock;
}

async function* timedParts(
  model: ChatModel,
  request: ModelRequest,
  { signal, timeouts, clock }: Timing,
): AsyncIterable<ModelPart> {
  const controller = new AbortController();
  const stopListening = onAbort(signal, () => controller.abort());
  if (signal.aborted) controller.abort();
  try {
    const parts = model.stream(request, { signal: controller.signal })[Symbol.asyncIterator]();
    let failure = noReply(timeouts);
    let waitMs = timeouts.firstChunkMs;
    for (;;) {
      const step = await within(waitMs, clock, parts.next());
      if (step === null) return yield { type: 'failure', failure };
      if (step.done) return;
      yield step.value;
      failure = stalled(timeouts);
      waitMs = timeouts.chunkMs;
    }
  } finally {
    stopListening();
    controller.abort();
  }
}

/** Resolves to null if the work takes longer. */
function within<Value>(ms: number, clock: Clock, work: Promise<Value>): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => resolve(null), ms);
    work.then(resolve, reject).finally(() => clock.clearTimeout(timer));
  });
}

function noReply({ firstChunkMs }: ReplyTimeouts): Failure {
  return failureOf('transport', 'no_reply', `No reply began within ${firstChunkMs} ms.`);
}

function stalled({ chunkMs }: ReplyTimeouts): Failure {
  return failureOf('transport', 'stalled', `The reply stopped for more than ${chunkMs} ms.`);
}
