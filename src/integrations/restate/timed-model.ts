import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ChatModel, ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import type { Clock } from '../../engine/attempts/clock.ts';
import { onAbort } from '../../internal/on-abort.ts';

/** How long a call may be silent, in milliseconds: before its first part, and between two. */
export interface Patience {
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
