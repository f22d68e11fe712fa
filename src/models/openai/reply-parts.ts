import type { TokenUsage } from '../../../machines/contracts/budget.ts';
import type { FinishReason, ModelPart } from '../../../machines/contracts/model.ts';
import { type Chunk, parseChunk } from './chunk.ts';
import { failure } from './failure.ts';
import { oneLine } from './one-line.ts';

/**
 * Chunks as the port's parts: deltas, then one `finish` or `failure`. What breaks after the finish reason is no failure, as
 * only the usage could still come.
 *
 * @throws what `chunks` throws before the finish reason; ReportedError and ZodError of `parseChunk`.
 */
export async function* replyParts(chunks: AsyncIterable<unknown>): AsyncGenerator<ModelPart, void> {
  let reason: FinishReason | null = null;
  let usage: TokenUsage | null = null;
  let refusal = '';
  let count = 0;
  try {
    for await (const data of chunks) {
      const chunk = parseChunk(data);
      const choice = chunk.choices?.[0];
      const said = choice?.delta ?? choice?.message;
      count += 1;
      usage = usageOf(chunk) ?? usage;
      refusal += said?.refusal ?? '';
      if (choice?.finish_reason) reason = finishReason(choice.finish_reason);
      if (said?.content) yield { type: 'text-delta', text: said.content };
    }
  } catch (error) {
    if (reason === null) throw error;
  }
  yield lastPart(reason, usage, refusal, count);
}

function lastPart(reason: FinishReason | null, usage: TokenUsage | null, refusal: string, count: number): ModelPart {
  if (count === 0) {
    const message = 'the reply held no chat completion; check that the base URL is the one of an OpenAI-compatible API';
    return { type: 'failure', failure: failure('garbled_reply', message, { retryable: true }) };
  }
  if (reason === null) {
    const message = 'the reply ended before it was finished';
    return { type: 'failure', failure: failure('stream_cut', message, { retryable: true }) };
  }
  if (refusal === '') return { type: 'finish', reason, usage };
  return {
    type: 'failure',
    failure: failure('refused', `the model refused: ${oneLine(refusal, [])}`, { stage: 'refinement' }),
  };
}

function usageOf({ usage }: Chunk): TokenUsage | null {
  return usage ? { inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens, estimated: false } : null;
}

function finishReason(reason: string): FinishReason {
  if (reason === 'stop' || reason === 'length') return reason;
  return reason === 'content_filter' ? 'content-filter' : 'other';
}
