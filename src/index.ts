export type { AttemptExecution, AttemptOutcome, AttemptRecord, NextCall } from '../machines/contracts/attempt.ts';
export type { Limits, TokenUsage } from '../machines/contracts/budget.ts';
export type { ChainEvent } from '../machines/contracts/chain-event.ts';
export type { ConsentChoice, ConsentRequest } from '../machines/contracts/consent.ts';
export type { ContextDocument } from '../machines/contracts/context-document.ts';
export type { ContextOperation } from '../machines/contracts/context-operation.ts';
export type { Decision } from '../machines/contracts/decision.ts';
export type { EmbeddingModel } from '../machines/contracts/embedding.ts';
export { type ErrorCode, PostChainError } from '../machines/contracts/error.ts';
export type { Failure } from '../machines/contracts/failure.ts';
export type { JournalEntry } from '../machines/contracts/journal-entry.ts';
export type { Message } from '../machines/contracts/message.ts';
export type {
  ChatModel,
  ChatTurn,
  FinishReason,
  ModelPart,
  ModelRequest,
  ReplyForm,
} from '../machines/contracts/model.ts';
export type { Passage, PassageSource, Retrieval, SearchOptions } from '../machines/contracts/passage.ts';
export { PHASES, type Phase, type Task } from '../machines/contracts/phase.ts';
export type { Replies } from '../machines/contracts/phases/reply.ts';
export type { ContextStatistics, Pruning } from '../machines/contracts/phases/understanding.ts';
export type { Citation, FinalAnswer } from '../machines/contracts/synthesis.ts';
export type { Thresholds } from '../machines/contracts/thresholds.ts';
export { contextOf, redo, undo } from '../machines/policies/context-document.ts';
export { failureOf } from '../machines/policies/failures.ts';
export type { AttemptLimits, AttemptOptions, AttemptPrompt } from './attempts/attempt-options.ts';
export { AttemptsExhausted } from './attempts/attempts-exhausted.ts';
export type { Clock } from './attempts/clock.ts';
export {
  type Attempt,
  type AttemptLogic,
  type CreateAttemptOptions,
  createAttempt,
} from './attempts/create-attempt.ts';
export type { DeepPartial } from './attempts/deep-partial.ts';
export type { StructuredOutput } from './attempts/output-handle.ts';
export {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from './attempts/retry-policy.ts';
export { createStructuredOutput, type StructuredOutputOptions } from './attempts/structured-output.ts';
export type { ElementUpdate, ResetUpdate, StructuredUpdate } from './attempts/updates.ts';
export { type Capability, type CapabilityContext, defineCapability } from './capabilities/capability.ts';
export { searchDocuments } from './capabilities/search-documents.ts';
export { contextHistory } from './journal/context-history.ts';
export { readJournal } from './journal/read-journal.ts';
export { offlineModel } from './models/offline/offline-model.ts';
export { openaiEmbeddings } from './models/openai/embeddings.ts';
export type { OpenAIEmbeddingsOptions } from './models/openai/embeddings-options.ts';
export { type OpenAIModel, openaiModel } from './models/openai/openai-model.ts';
export type { OpenAIModelOptions } from './models/openai/options.ts';
export { definePrompt, type Prompt } from './prompts/prompt.ts';
export { prompts } from './prompts/registry.ts';
export type { Document } from './retrieval/document.ts';
export { type LoadedDocuments, loadDocuments } from './retrieval/load-documents.ts';
export { createPassageIndex } from './retrieval/passage-index.ts';
export { type Decider, noopDecider } from './runtime/action-actors.ts';
export { chainInput } from './runtime/chain-input.ts';
export { createActors } from './runtime/create-actors.ts';
export { createPostChain, type PostChain } from './runtime/create-postchain.ts';
export type { RunEvent } from './runtime/event-stream.ts';
export type { PostChainOptions } from './runtime/options.ts';
export type { Run } from './runtime/run.ts';
export type { RunOptions, Turn } from './runtime/run-options.ts';
export type { PartialUpdate, Watcher } from './runtime/watcher.ts';
export { type ListSchema, listOf } from './schemas/list-of.ts';
export type { JsonSchema } from './schemas/standard-schema.ts';
