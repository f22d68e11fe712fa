import { PostChainError } from '../../../machines/contracts/error.ts';
import type { Failure } from '../../../machines/contracts/failure.ts';
import { failure } from './failure.ts';
import { failureOf } from './failure-of.ts';
import type { OpenAISettings } from './options.ts';

/** Text Embeddings Inference and llama.cpp; what others say of a text too long is known from prompts. */
const TOO_LONG = /\binput is too large\b|less than \d+ tokens/iu;

/** Whatever a request for embeddings threw, as a failure with the stable codes of a model's. */
export function embeddingsFailure(thrown: unknown, settings: OpenAISettings): Failure {
  const told = failureOf(thrown, settings);
  if (told.code !== 'garbled_reply') return told;
  const message = 'the reply held no vector for each text; check the base URL and that the model is one for embeddings';
  return failure('garbled_reply', message, { retryable: true });
}

/** Whether the model does not take texts as long as were sent. */
export function isTextTooLong({ code, message }: Failure): boolean {
  return code === 'prompt_too_long' || TOO_LONG.test(message);
}

/** What `embed` rejects with; the failure is its cause. */
export function embeddingsError(cause: Failure): PostChainError {
  return new PostChainError('embedding_failed', `no embeddings: ${cause.message}`, { cause });
}

export function embeddingsCancelled(): PostChainError {
  return new PostChainError('cancelled', 'no embeddings: the call was cancelled');
}
