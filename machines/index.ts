export { actionMachine } from './action/action.machine.ts';
export { attemptMachine } from './attempt/attempt.machine.ts';
export type { ReadReply, ReadReplyInput, ValidateReply } from './attempt/ports.ts';
export { chainMachine } from './chain/chain.machine.ts';
export { chainGuards } from './chain/guards.ts';
export type { ActionInput, ActionState } from './contracts/action-state.ts';
export {
  type AttemptExecution,
  type AttemptInput,
  type AttemptOutcome,
  attemptExecutionSchema,
  type Validation,
} from './contracts/attempt.ts';
export { type AttemptPolicy, attemptPolicySchema, DEFAULT_POLICY } from './contracts/attempt-policy.ts';
export { type Limits, limitsSchema, type Usage } from './contracts/budget.ts';
export { type ChainEvent, chainEventSchema } from './contracts/chain-event.ts';
export type { ChainInput } from './contracts/chain-input.ts';
export type { ChainState } from './contracts/chain-state.ts';
export { type ContextOperation, contextOperationSchema } from './contracts/context-operation.ts';
export { type Decision, decisionSchema } from './contracts/decision.ts';
export { type Envelope, envelopeSchema } from './contracts/envelope.ts';
export type { EvidenceText } from './contracts/evidence-text.ts';
export { type Failure, failureSchema } from './contracts/failure.ts';
export { type JournalEntry, journalEntrySchema } from './contracts/journal-entry.ts';
export { type Message, messageSchema } from './contracts/message.ts';
export { type PhaseInput, phaseInputSchema } from './contracts/phases/input.ts';
export { type PhaseResult, phaseResultSchema } from './contracts/phases/result.ts';
export { type RecursionState, recursionStateSchema } from './contracts/recursion.ts';
export type { ReplyEvent } from './contracts/reply-event.ts';
export { type RecalledSession, type SessionTurn, sessionTurnSchema } from './contracts/session.ts';
export { type FinalAnswer, finalAnswerSchema, type SynthesisOutcome } from './contracts/synthesis.ts';
export { type SynthesisInput, synthesisInputSchema } from './contracts/synthesis-input.ts';
export { type Thresholds, thresholdsSchema } from './contracts/thresholds.ts';
export {
  type ClaimInputs,
  type ClaimVerdict,
  claimedCompletion,
} from './heuristics/claimed-completion/claimed-completion.ts';
export { type Grounding, groundingOf } from './heuristics/grounding/grounding.ts';
export {
  type DialogueTurn,
  SATISFIED,
  type Satisfaction,
  userSatisfaction,
} from './heuristics/satisfaction/satisfaction.ts';
export { type Sufficiency, sufficiencyOf } from './heuristics/sufficiency/sufficiency.ts';
export { assess } from './policies/assessment.ts';
export { decideToContinue } from './policies/decisions.ts';
export { initialState } from './policies/progress.ts';
export {
  RELEVANCE_WEIGHTS,
  type Relevance,
  type RelevanceInputs,
  relevanceOf,
} from './policies/relevance/relevance.ts';
export { planRetention, type RetentionInputs, type RetentionPlan } from './policies/retention/retention.ts';
export { composeAnswer } from './policies/synthesis/compose.ts';
export { synthesisInput } from './policies/synthesis/input.ts';
export { type ReadSynthesisInput, readSynthesisInput } from './policies/synthesis/read-input.ts';
