/** Typed, streamed and validated values from a language model, without the reasoning chain. */

export { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
export type { AttachedFile, Attachment } from '../../machines/contracts/message.ts';
export type {
  ChatModel,
  ChatTurn,
  FinishReason,
  ModelPart,
  ModelRequest,
  ReplyForm,
  ToolOffer,
} from '../../machines/contracts/model.ts';
export type { AttemptLimits, AttemptOptions, AttemptPrompt, PromptTurn } from '../llm/attempts/attempt-options.ts';
export { AttemptsExhausted } from '../llm/attempts/attempts-exhausted.ts';
export {
  type Attempt,
  type AttemptLogic,
  type CreateAttemptOptions,
  createAttempt,
} from '../llm/attempts/create-attempt.ts';
export type { StructuredOutput } from '../llm/attempts/output-handle.ts';
export {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from '../llm/attempts/retry-policy.ts';
export { createStructuredOutput, type StructuredOutputOptions } from '../llm/attempts/structured-output.ts';
export type { DeepPartial, ElementUpdate, ResetUpdate, StructuredUpdate } from '../llm/attempts/updates.ts';
export type { Content, ContentPart, FileData } from '../llm/content.ts';
export { type ListSchema, listOf } from '../llm/schemas/list-of.ts';
