export { actionMachine, createActionMachine } from '../../machines/action/action.machine.ts';
export type { ActionActors } from '../../machines/action/actors.ts';
export type { AttemptActors, ReadReply, ReadReplyInput, ValidateReply } from '../../machines/attempt/actors.ts';
export { attemptMachine, createAttemptMachine } from '../../machines/attempt/attempt.machine.ts';
export type { ChainActors } from '../../machines/chain/actors.ts';
export { chainMachine, createChainMachine } from '../../machines/chain/chain.machine.ts';
export { chainGuards } from '../../machines/chain/guards.ts';
export type { ActionInput, ActionState } from '../../machines/contracts/action-state.ts';
export type { ReplyEvent } from '../../machines/contracts/attempt.ts';
export {
  type AttemptExecution,
  type AttemptInput,
  type AttemptOutcome,
  type AttemptPolicy,
  attemptExecutionSchema,
  attemptPolicySchema,
  DEFAULT_POLICY,
  type Validation,
} from '../../machines/contracts/attempt.ts';
export type { ChainInput, ChainState } from '../../machines/contracts/chain-state.ts';
export { type RecursionState, recursionStateSchema } from '../../machines/contracts/chain-state.ts';
export {
  type ContextOperation,
  contextOperationSchema,
  type Envelope,
  envelopeSchema,
  type ReasonCode,
  reasonCodeSchema,
} from '../../machines/contracts/context.ts';
export { type Decision, decisionSchema } from '../../machines/contracts/decision.ts';
export {
  type ChainEvent,
  type ClientEvent,
  chainEventSchema,
  clientEventSchema,
  refusalText,
} from '../../machines/contracts/events.ts';
export { type Failure, failureSchema } from '../../machines/contracts/failure.ts';
export type {
  AnswerGrades,
  DialogueTurn,
  EvidenceText,
  Grading,
  GradingInput,
  SomeGrades,
} from '../../machines/contracts/grading.ts';
export { type JournalEntry, journalEntrySchema } from '../../machines/contracts/journal.ts';
export { type Limits, limitsSchema, type Thresholds, thresholdsSchema } from '../../machines/contracts/limits.ts';
export { type Message, messageSchema } from '../../machines/contracts/message.ts';
export {
  type PhaseInput,
  type PhaseResult,
  phaseInputSchema,
  phaseResultSchema,
} from '../../machines/contracts/phase-io.ts';
export { type RecalledSession, type SessionTurn, sessionTurnSchema } from '../../machines/contracts/session.ts';
export {
  type AnswerMaterial,
  answerMaterialSchema,
  type FinalAnswer,
  finalAnswerSchema,
  type SynthesisOutcome,
} from '../../machines/contracts/synthesis.ts';
export type { Usage } from '../../machines/contracts/usage.ts';
export { type AnswerFeatures, answerFeatures, gradeByDefault } from '../../machines/heuristics/default-grader.ts';
export { assess } from '../../machines/policies/assessment.ts';
export { decideToContinue } from '../../machines/policies/decisions.ts';
export { initialState } from '../../machines/policies/progress.ts';
export {
  RELEVANCE_WEIGHTS,
  type Relevance,
  type RelevanceInputs,
  relevanceOf,
} from '../../machines/policies/relevance.ts';
export { planRetention, type RetentionInputs, type RetentionPlan } from '../../machines/policies/retention.ts';
export { type AnswerBasis, basisOf } from '../../machines/policies/synthesis/basis.ts';
export { composeAnswer } from '../../machines/policies/synthesis/compose.ts';
