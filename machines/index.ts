export { actionMachine, createActionMachine } from './action/action.machine.ts';
export type { ActionActors } from './action/actors.ts';
export type { AttemptActors, ReadReply, ReadReplyInput, ValidateReply } from './attempt/actors.ts';
export { attemptMachine, createAttemptMachine } from './attempt/attempt.machine.ts';
export type { ChainActors } from './chain/actors.ts';
export { chainMachine, createChainMachine } from './chain/chain.machine.ts';
export { chainGuards } from './chain/guards.ts';
export type { ActionInput, ActionState } from './contracts/action-state.ts';
export type { ReplyEvent } from './contracts/attempt.ts';
export {
  type AttemptExecution,
  type AttemptInput,
  type AttemptOutcome,
  type AttemptPolicy,
  attemptExecutionSchema,
  attemptPolicySchema,
  DEFAULT_POLICY,
  type Validation,
} from './contracts/attempt.ts';
export type { ChainInput, ChainState } from './contracts/chain-state.ts';
export { type RecursionState, recursionStateSchema } from './contracts/chain-state.ts';
export {
  type ContextOperation,
  contextOperationSchema,
  type Envelope,
  envelopeSchema,
  type ReasonCode,
  reasonCodeSchema,
} from './contracts/context.ts';
export { type Decision, decisionSchema } from './contracts/decision.ts';
export { type ChainEvent, type ClientEvent, chainEventSchema, clientEventSchema } from './contracts/events.ts';
export { type Failure, failureSchema } from './contracts/failure.ts';
export type {
  AnswerGrades,
  DialogueTurn,
  EvidenceText,
  Grading,
  GradingInput,
  SomeGrades,
} from './contracts/grading.ts';
export { type JournalEntry, journalEntrySchema } from './contracts/journal.ts';
export { type Limits, limitsSchema, type Thresholds, thresholdsSchema } from './contracts/limits.ts';
export { type Message, messageSchema } from './contracts/message.ts';
export { type PhaseInput, type PhaseResult, phaseInputSchema, phaseResultSchema } from './contracts/phase-io.ts';
export { type RecalledSession, type SessionTurn, sessionTurnSchema } from './contracts/session.ts';
export {
  type FinalAnswer,
  finalAnswerSchema,
  type SynthesisInput,
  type SynthesisOutcome,
  synthesisInputSchema,
} from './contracts/synthesis.ts';
export type { Usage } from './contracts/usage.ts';
export { type AnswerFeatures, answerFeatures, gradeByDefault } from './heuristics/default-grader.ts';
export { assess } from './policies/assessment.ts';
export { decideToContinue } from './policies/decisions.ts';
export { initialState } from './policies/progress.ts';
export {
  RELEVANCE_WEIGHTS,
  type Relevance,
  type RelevanceInputs,
  relevanceOf,
} from './policies/relevance.ts';
export { planRetention, type RetentionInputs, type RetentionPlan } from './policies/retention.ts';
export { composeAnswer } from './policies/synthesis/compose.ts';
export { synthesisInput } from './policies/synthesis/input.ts';
export { type ReadSynthesisInput, readSynthesisInput } from './policies/synthesis/read-input.ts';
export { evaluateYieldRules } from './policies/yield-rules.ts';
