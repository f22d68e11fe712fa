import { PostChainError } from '../machines/contracts/error.ts';
import type { JournalEntry, JournalStore, OpenJournalOptions } from '../machines/contracts/journal.ts';

export type {
  ConsentChoice,
  ConsentRequest,
  ContextDocument,
  ContextOperation,
  ReasonCode,
} from '../machines/contracts/context.ts';
export type { ChainEvent, ClientEvent } from '../machines/contracts/events.ts';
export type { AnswerGrades, GradingInput, SomeGrades } from '../machines/contracts/grading.ts';
export type {
  JournalEntry,
  JournalStore,
  JournalStoreOptions,
  JournalWriter,
  OpenedJournal,
  OpenJournalOptions,
  RunStatus,
  RunSummary,
} from '../machines/contracts/journal.ts';
export type { Limits, Thresholds } from '../machines/contracts/limits.ts';
export type { EmbeddingModel } from '../machines/contracts/model.ts';
export type { ContextStatistics, Pruning, Replies } from '../machines/contracts/phase-io.ts';
export type { SynthesisInput } from '../machines/contracts/synthesis.ts';
export type { Price, PriceTable, TokenUsage } from '../machines/contracts/usage.ts';
export { contextOf, redo, undo } from '../machines/policies/context.ts';

import { type PostChainOptions, resolveOptions } from './engine/runtime/options.ts';
import { createRunStart, type Run, startRun } from './engine/runtime/run.ts';
import { createChainInput, type RunOptions } from './engine/runtime/run-options.ts';
import { createRunSlots, startInSlot } from './engine/runtime/run-slots.ts';
import { type ForkOptions, forkRun } from './journal/fork.ts';
import { entriesOf } from './journal/journal-lines.ts';
import { resumeRun } from './journal/resume.ts';

export type { AttachedFile, Attachment } from '../machines/contracts/attachment.ts';
export type { AttemptExecution, AttemptOutcome, AttemptRecord, NextCall } from '../machines/contracts/attempt.ts';

export type { Decision } from '../machines/contracts/decision.ts';

export { type ErrorCode, PostChainError } from '../machines/contracts/error.ts';
export type { Failure } from '../machines/contracts/failure.ts';

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
export { PHASES, type Phase, type PromptName, type Task } from '../machines/contracts/phase.ts';

export type { SessionStore, SessionTurn } from '../machines/contracts/session.ts';
export type { Citation, FinalAnswer } from '../machines/contracts/synthesis.ts';

export { failureOf } from '../machines/policies/failures.ts';
export type { ParsedDocument } from './documents/document.ts';
export { createPassageIndex } from './documents/passage-index.ts';
export {
  type Document,
  type DocumentType,
  documentsFrom,
  type LoadedDocuments,
  readDocument,
} from './documents/read-document.ts';
export type { AttemptLimits, AttemptOptions, AttemptPrompt, PromptTurn } from './engine/attempts/attempt-options.ts';
export { AttemptsExhausted } from './engine/attempts/attempts-exhausted.ts';
export {
  type Attempt,
  type AttemptLogic,
  type CreateAttemptOptions,
  createAttempt,
} from './engine/attempts/create-attempt.ts';
export type { StructuredOutput } from './engine/attempts/output-handle.ts';
export {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from './engine/attempts/retry-policy.ts';
export { createStructuredOutput, type StructuredOutputOptions } from './engine/attempts/structured-output.ts';
export type { DeepPartial, ElementUpdate, ResetUpdate, StructuredUpdate } from './engine/attempts/updates.ts';
export type { Clock } from './engine/clock.ts';
export type { Content, ContentPart, FileData } from './engine/content.ts';
export { definePrompt, type Prompt, type PromptInputs } from './engine/prompts/prompt.ts';
export { prompts } from './engine/prompts/registry.ts';
export type { AnswerGrader } from './engine/runtime/answer-grader.ts';
export { chainInput, createActors } from './engine/runtime/bare-chain.ts';
export {
  createCapabilityLoop,
  type LoopOptions,
  type LoopOutcome,
  type LoopRun,
} from './engine/runtime/capability-loop.ts';
export {
  type Decider,
  type DeciderReply,
  type DecidingFunction,
  modelDecider,
  noopDecider,
} from './engine/runtime/decider.ts';
export { type MemorySessionsOptions, memorySessions } from './engine/runtime/memory-sessions.ts';
export type { PostChainOptions } from './engine/runtime/options.ts';
export type { ProfileOption } from './engine/runtime/profile.ts';
export type { ChainPolicy } from './engine/runtime/retry-rules.ts';
export type { Run } from './engine/runtime/run.ts';
export type { PartialUpdate, RunEvent, RunObserver } from './engine/runtime/run-events.ts';
export type { RunOptions, Turn } from './engine/runtime/run-options.ts';
export { type ListSchema, listOf } from './engine/schemas/list-of.ts';
export { type SynthesizeOptions, synthesizeAnswer } from './engine/synthesize-answer.ts';
export type { JsonSchema } from './internal/standard-schema.ts';
export { contextHistory } from './journal/context-history.ts';
export type { ForkChanges, ForkOptions } from './journal/fork.ts';
export { memoryJournals } from './journal/memory-journals.ts';
export type { Divergence } from './journal/replay.ts';
export { type ReplayedRun, replay } from './journal/replay.ts';
export { rerecord } from './journal/rerecord.ts';
export { type StateAfter, type StateHistory, stateAt, stateHistory } from './journal/state-at.ts';
export { type PhasesEnd, type PhaseUse, type WhatIf, type WhatIfChanges, whatIf } from './journal/what-if.ts';
export { extractiveModel } from './models/extractive/extractive-model.ts';
export { type Capability, type CapabilityContext, defineCapability } from './tools/capability.ts';
export { currentTime } from './tools/current-time.ts';
export { readPassage } from './tools/read-passage.ts';
export { searchDocuments } from './tools/search-documents.ts';

export interface PostChain {
  /**
   * Starts a run. Before anything starts, it throws `invalid_request`, `unsupported_file` or `invalid_option`, or rethrows the error of
   * `journals.create`. After that, it never throws.
   */
  run(options: RunOptions): Run;
  /**
   * Continues a run from `journals` whose process died; a run that has ended is returned with its answer. Rejects with
   * `invalid_journal` if the run is missing, still running or damaged, or was recorded on another version of the chart.
   * With `maxConcurrentRuns`, it waits in the queue before it opens the journal; so does `fork`.
   * `force` takes over a run whose process may still be alive, for example on another host.
   */
  resume(runId: string, options?: Pick<RunOptions, 'signal'> & OpenJournalOptions): Promise<Run>;
  /**
   * Starts a new run that repeats a recorded one (a run id from `journals`, or a list of entries) up to an entry and
   * continues from there with a change. Calls that match the recording get the recorded results; all other calls run live.
   * Rejects with `invalid_option` or `invalid_journal`.
   */
  fork(run: string | readonly JournalEntry[], options: ForkOptions): Promise<Run>;
}

/**
 * Creates a reasoning chain from a model, documents and capabilities. Throws `invalid_option` if an option is invalid.
 *
 * @example
 * const chain = createPostChain({ model, documents });
 * const { answerText, sources } = await chain.run({ request: 'What does Yield decide?' }).answer;
 */
export function createPostChain(options: PostChainOptions = {}): PostChain {
  const parts = resolveOptions(options);
  const slots = createRunSlots(options.maxConcurrentRuns ?? Number.POSITIVE_INFINITY);
  const kept = (): JournalStore => options.journals ?? noJournals();
  return {
    run(run) {
      const { input, files } = createChainInput(run, parts);
      const start = createRunStart(input, parts, {
        host: run.host ?? null,
        keyframes: options.journals !== undefined,
      });
      const writer = options.journals?.create(start.runId);
      return startRun(start, parts, { signal: run.signal, files, writer, slots });
    },
    resume: (runId, { signal, ...open } = {}) =>
      startInSlot(slots, signal, async () => resumeRun(await kept().open(runId, open), parts, signal)),
    fork: async (run, how) =>
      startInSlot(slots, how.signal, async () =>
        forkRun(
          { entries: typeof run === 'string' ? await entriesOf(kept().read(run)) : run, runId: parts.newRunId() },
          { parts, journals: options.journals },
          how,
        ),
      ),
  };
}

function noJournals(): never {
  throw new PostChainError(
    'invalid_option',
    'journals: expected a journal store, for example fileJournals("runs"); received none.',
  );
}
