import type { TokenUsage } from '../../../machines/contracts/budget.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { withoutSecrets } from '../../internal/without-secrets.ts';
import { type Chunk, parseChunk } from './chunk.ts';
import { spoken } from './content.ts';
import { failure } from './failure.ts';
import { ToolCalls } from './tool-calls.ts';
import type { ToolNames } from './tool-names.ts';

/** What is known of a reply so far. */
interface Progress {
  readonly calls: ToolCalls;
  count: number;
  refusal: string;
  reason: FinishReason | null;
  usage: TokenUsage | null;
}

/**
 * Chunks as the port's parts: deltas, then one `finish` or `failure`. What breaks before the finish reason is a failure by
 * `failureOf`; what breaks after it is none, as only the usage could still come. A call of a tool has the name that the tool has here,
 * however it was written for the server.
 */
export async function* replyParts(
  chunks: AsyncIterable<unknown>,
  names: Pick<ToolNames, 'nameOf'>,
  failureOf: (thrown: unknown) => Failure,
): AsyncGenerator<ModelPart, void> {
  const calls = new ToolCalls(names);
  const progress: Progress = { calls, count: 0, refusal: '', reason: null, usage: null };
  try {
    for await (const data of chunks) yield* deltas(parseChunk(data), progress);
  } catch (thrown) {
    if (progress.reason === null) {
      yield failed(failureOf(thrown), progress);
      return;
    }
  }
  yield* progress.calls.rest();
  yield lastPart(progress);
}

function deltas(chunk: Chunk, progress: Progress): readonly ModelPart[] {
  const choice = chunk.choices?.[0];
  const said = choice?.delta ?? choice?.message;
  progress.count += 1;
  progress.usage = usageOf(chunk.usage ?? choice?.usage) ?? progress.usage;
  if (choice?.finish_reason) progress.reason = finishReason(choice.finish_reason);
  if (!said) return [];
  progress.refusal += said.refusal;
  const { text, reasoning } = spoken(said);
  return [
    ...(reasoning === '' ? [] : [{ type: 'reasoning-delta', text: reasoning } as const]),
    ...(text === '' ? [] : [{ type: 'text-delta', text } as const]),
    ...progress.calls.read(said.tool_calls ?? []),
  ];
}

function lastPart(progress: Progress): ModelPart {
  const { count, refusal, reason, usage } = progress;
  if (count === 0) {
    const message = 'the reply held no chat completion; check that the base URL is the one of an OpenAI-compatible API';
    return failed(failure('garbled_reply', message, { retryable: true }), progress);
  }
  if (reason === null) {
    const message = 'the reply ended before it was finished';
    return failed(failure('stream_cut', message, { retryable: true }), progress);
  }
  if (refusal === '') return { type: 'finish', reason, usage };
  return failed(
    failure('refused', `the model refused: ${withoutSecrets(refusal, [])}`, { stage: 'refinement' }),
    progress,
  );
}

function failed(failure: Failure, { usage }: Progress): ModelPart {
  return { type: 'failure', failure, ...(usage !== null && { usage }) };
}

function usageOf(usage: Chunk['usage']): TokenUsage | null {
  return usage ? { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, estimated: false } : null;
}

const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

function finishReason(theirs: string): FinishReason {
  return Object.hasOwn(REASONS, theirs) ? (REASONS[theirs] ?? 'other') : 'other';
}
