export type { ApprovalRequest } from '../../machines/action/actors.ts';
export type { AttemptExecution, AttemptOutcome, AttemptRecord, NextCall } from '../../machines/contracts/attempt.ts';
export type {
  ConsentChoice,
  ConsentRequest,
  ContextDocument,
  ContextOperation,
  ReasonCode,
} from '../../machines/contracts/context.ts';
export type { Decision } from '../../machines/contracts/decision.ts';
export { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
export type { ChainEvent, ClientEvent } from '../../machines/contracts/events.ts';
export type { Failure } from '../../machines/contracts/failure.ts';
export type { AnswerGrades, GradingInput, SomeGrades } from '../../machines/contracts/grading.ts';
export type { JournalEntry } from '../../machines/contracts/journal.ts';
export type { Limits, Thresholds } from '../../machines/contracts/limits.ts';
export type { AttachedFile, Attachment, Message } from '../../machines/contracts/message.ts';
export type {
  ChatModel,
  ChatTurn,
  EmbeddingModel,
  FinishReason,
  ModelPart,
  ModelRequest,
  ReplyForm,
  ToolOffer,
} from '../../machines/contracts/model.ts';
export type { Passage, PassageSource, Retrieval, SearchOptions } from '../../machines/contracts/passage.ts';
export { PHASES, type Phase, type PromptName, type Task } from '../../machines/contracts/phase.ts';
export type { ContextStatistics, Pruning, Replies } from '../../machines/contracts/phase-io.ts';
export type { SessionStore, SessionTurn } from '../../machines/contracts/session.ts';
export type { AnswerReason, Citation, FinalAnswer, SynthesisInput } from '../../machines/contracts/synthesis.ts';
export type { Price, PriceTable, TokenUsage } from '../../machines/contracts/usage.ts';
export { contextOf, redo, undo } from '../../machines/policies/context.ts';
export { failureOf } from '../../machines/policies/failures.ts';
export { type ApprovalAsked, pendingApprovals } from '../../machines/policies/questions.ts';
export { createPostChain, type PostChain } from '../chain/create-post-chain.ts';
export { checkRuns } from '../chain/journal/check-runs.ts';
export { contextHistory } from '../chain/journal/context-history.ts';
export type { PhasesEnd, PhaseUse, WhatIf, WhatIfChanges } from '../chain/journal/decided-run.ts';
export type { ForkChanges, ForkOptions } from '../chain/journal/fork.ts';
export type { Divergence } from '../chain/journal/replay.ts';
export { type ReplayedRun, replay } from '../chain/journal/replay.ts';
export { rerecord } from '../chain/journal/rerecord.ts';
export { readRun, runEntries } from '../chain/journal/run-journal.ts';
export { type StateAfter, type StateHistory, stateAt, stateHistory } from '../chain/journal/state-at.ts';
export { whatIf } from '../chain/journal/what-if.ts';
export { definePrompt, type Prompt, type PromptInputs } from '../chain/prompts/prompt.ts';
export { prompts } from '../chain/prompts/registry.ts';
export type { ApprovalReply, ApprovingFunction } from '../chain/runtime/actors.ts';
export type { AnswerGrader } from '../chain/runtime/answer-grader.ts';
export { type BareChain, type BareChainOptions, createBareChain } from '../chain/runtime/bare-chain.ts';
export {
  createCapabilityLoop,
  type LoopOptions,
  type LoopOutcome,
  type LoopRun,
} from '../chain/runtime/capability-loop.ts';
export type {
  ContinuationOption,
  DeciderReply,
  DecidingFunction,
} from '../chain/runtime/decider.ts';
export { type MemorySessionsOptions, memorySessions } from '../chain/runtime/memory-sessions.ts';
export type { PostChainOptions } from '../chain/runtime/options.ts';
export type { ProfileOption } from '../chain/runtime/profile.ts';
export type { ChainPolicy } from '../chain/runtime/retry-rules.ts';
export type { Run } from '../chain/runtime/run.ts';
export type { AnswerDelta, AnswerVoid, PartialUpdate, RunEvent, RunObserver } from '../chain/runtime/run-events.ts';
export type { AnswerSchema, AnswerValue, RunOptions, Turn } from '../chain/runtime/run-options.ts';
export { type SynthesizeOptions, synthesizeAnswer } from '../chain/synthesize-answer.ts';
export type { ParsedDocument } from '../documents/document.ts';
export { createPassageIndex } from '../documents/passage-index.ts';
export {
  type Document,
  type DocumentType,
  documentsFrom,
  type LoadedDocuments,
  readDocument,
} from '../documents/read-document.ts';
export type { Clock } from '../durable/clock.ts';
export type { DurableEntry } from '../durable/entries.ts';
export type {
  ActorSummary,
  JournalStore,
  JournalStoreOptions,
  Journals,
  JournalWriter,
  OpenedJournal,
  OpenJournalOptions,
} from '../durable/journals/journal-store.ts';
export { memoryJournals } from '../durable/journals/memory-journals.ts';
export type { JsonSchema } from '../internal/standard-schema.ts';
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
export { extractiveModel } from '../models/extractive/extractive-model.ts';
export { type Capability, type CapabilityContext, defineCapability } from '../tools/capability.ts';
export type { ClientTool } from '../tools/client-tools.ts';
export { currentTime } from '../tools/current-time.ts';
export { readPassage } from '../tools/read-passage.ts';
export { searchDocuments } from '../tools/search-documents.ts';
