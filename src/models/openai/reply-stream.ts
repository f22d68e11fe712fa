import type { Failure } from '../../../machines/contracts/failure.ts';
import type { ModelPart, ModelRequest } from '../../../machines/contracts/model.ts';
import { linkSignals } from '../../internal/async.ts';
import { toolCallFailure } from './failures.ts';

type FailureOf = (thrown: unknown) => Failure;

/**
 * Yields the parts of a reply that `open` returns, until the caller aborts. An error becomes the last part. The signal of `open` aborts at the
 * end, whatever ends the reply.
 */
export async function* replyStream(
  { replyForm }: ModelRequest,
  caller: AbortSignal,
  failureOf: FailureOf,
  open: (signal: AbortSignal, failureIn: FailureOf) => AsyncIterable<ModelPart>,
): AsyncGenerator<ModelPart, void> {
  if (caller.aborted) return;
  // The openai client and `fetch` never remove their listeners, so they must not get the caller's signal.
  const { signal, abort, forget } = linkSignals(caller);
  const failureIn: FailureOf = (thrown) =>
    replyForm === 'tool-call' ? toolCallFailure(failureOf(thrown)) : failureOf(thrown);
  try {
    for await (const part of open(signal, failureIn)) {
      // A body may end on an abort as if it were complete.
      if (caller.aborted) return;
      yield part;
    }
  } catch (thrown) {
    if (!caller.aborted) yield { type: 'failure', failure: failureIn(thrown) };
  } finally {
    forget();
    abort();
  }
}
