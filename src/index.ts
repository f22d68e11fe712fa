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
  ToolOffer,
} from '../machines/contracts/model.ts';
export type { Passage, PassageSource, Retrieval, SearchOptions } from '../machines/contracts/passage.ts';
export { PHASES, type Phase, type Task } from '../machines/contracts/phase.ts';
export type { Replies } from '../machines/contracts/phases/reply.ts';
export type { ContextStatistics, Pruning } from '../machines/contracts/phases/understanding.ts';
export type { Price, PriceTable } from '../machines/contracts/price.ts';
export type { SessionStore, SessionTurn } from '../machines/contracts/session.ts';
export type { Citation, FinalAnswer } from '../machines/contracts/synthesis.ts';
export type { SynthesisInput } from '../machines/contracts/synthesis-input.ts';
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
export { calculator } from './capabilities/calculator/calculator.ts';
export { type Capability, type CapabilityContext, defineCapability } from './capabilities/capability.ts';
export { currentTime } from './capabilities/current-time.ts';
export { connectMcp } from './capabilities/mcp/connect-mcp.ts';
export type { McpConnection } from './capabilities/mcp/mcp-connection.ts';
export type { McpHttpOptions, McpOptions, McpStdioOptions } from './capabilities/mcp/options.ts';
export { readPassage } from './capabilities/read-passage.ts';
export { searchDocuments } from './capabilities/search-documents.ts';
export { createPostChain, type PostChain } from './create-postchain.ts';
export { contextHistory } from './journal/context-history.ts';
export { readJournal } from './journal/read-journal.ts';
export { stateAt } from './journal/state-at.ts';
export { fileJournals } from './journal/stores/file-journals.ts';
export type {
  JournalStore,
  JournalStoreOptions,
  JournalWriter,
  OpenedJournal,
  RunStatus,
  RunSummary,
} from './journal/stores/journal-store.ts';
export { memoryJournals } from './journal/stores/memory-journals.ts';
export { type SqliteJournals, sqliteJournals } from './journal/stores/sqlite-journals.ts';
export { offlineModel } from './models/offline/offline-model.ts';
export { openaiEmbeddings } from './models/openai/embeddings.ts';
export type { OpenAIEmbeddingsOptions } from './models/openai/embeddings-options.ts';
export { type OpenAIModel, openaiModel } from './models/openai/openai-model.ts';
export type { OpenAIModelOptions } from './models/openai/options.ts';
export { answerAsJson, type JsonOptions } from './presentation/answer-as-json.ts';
export { answerAsMarkdown } from './presentation/answer-as-markdown.ts';
export { answerAsText, type TextOptions, type TextStyle } from './presentation/answer-as-text.ts';
export { definePrompt, type Prompt } from './prompts/prompt.ts';
export { prompts } from './prompts/registry.ts';
export type { ForkChanges } from './replay/changes.ts';
export type { Divergence } from './replay/divergence.ts';
export type { ForkOptions } from './replay/fork.ts';
export { type Replayed, replay } from './replay/replay.ts';
export { rerecord } from './replay/rerecord.ts';
export type { Document } from './retrieval/document.ts';
export { type LoadedDocuments, loadDocuments } from './retrieval/load-documents.ts';
export { createPassageIndex } from './retrieval/passage-index.ts';
export {
  createCapabilityLoop,
  type LoopOptions,
  type LoopOutcome,
  type LoopRun,
} from './runtime/capability-loop.ts';
export { chainInput } from './runtime/chain-input.ts';
export { createActors } from './runtime/create-actors.ts';
export { type Decider, type DeciderSays, type DecidingFunction, modelDecider, noopDecider } from './runtime/decider.ts';
export type { RunEvent } from './runtime/event-stream.ts';
export type { PostChainOptions } from './runtime/options.ts';
export type { Run } from './runtime/run.ts';
export type { RunOptions, Turn } from './runtime/run-options.ts';
export type { PartialUpdate, Watcher } from './runtime/watcher.ts';
export { type ListSchema, listOf } from './schemas/list-of.ts';
export type { JsonSchema } from './schemas/standard-schema.ts';
export { type MemorySessionsOptions, memorySessions } from './sessions/memory-sessions.ts';
export { type SqliteSessions, type SqliteSessionsOptions, sqliteSessions } from './sessions/sqlite-sessions.ts';
export { type SynthesizeOptions, synthesizeAnswer } from './synthesis/synthesize-answer.ts';
