/** Typed, streamed and validated values from a language model, without the reasoning chain. */

export type { AttachedFile, Attachment } from '../../machines/contracts/attachment.ts';
export { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
export type {
  ChatModel,
  ChatTurn,
  FinishReason,
  ModelPart,
  ModelRequest,
  ReplyForm,
  ToolOffer,
} from '../../machines/contracts/model.ts';
export type { AttemptLimits, AttemptOptions, AttemptPrompt, PromptTurn } from '../engine/attempts/attempt-options.ts';
export { AttemptsExhausted } from '../engine/attempts/attempts-exhausted.ts';
export {
  type Attempt,
  type AttemptLogic,
  type CreateAttemptOptions,
  createAttempt,
} from '../engine/attempts/create-attempt.ts';
export type { StructuredOutput } from '../engine/attempts/output-handle.ts';
export {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from '../engine/attempts/retry-policy.ts';
export { createStructuredOutput, type StructuredOutputOptions } from '../engine/attempts/structured-output.ts';
export type { DeepPartial, ElementUpdate, ResetUpdate, StructuredUpdate } from '../engine/attempts/updates.ts';
export type { Content, ContentPart, FileData } from '../engine/content.ts';
export { type ListSchema, listOf } from '../engine/schemas/list-of.ts';
