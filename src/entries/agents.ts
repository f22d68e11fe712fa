/** Actors for any XState machine: language models that answer, decide and use tools, document search, people, and a budget for all of them. */

export type { AttemptOutcome, AttemptRecord } from '../../machines/contracts/attempt.ts';
export { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
export type { ChatModel } from '../../machines/contracts/model.ts';
export type { Passage, PassageSource, Retrieval } from '../../machines/contracts/passage.ts';
export type { PriceTable, Usage } from '../../machines/contracts/usage.ts';
export { type BudgetLimits, type BudgetReached, budget } from '../agents/budget.ts';
export { type ChosenEvent, type DecideActor, type DecideOptions, decide, type EventChoices } from '../agents/decide.ts';
export { type GenerateOptions, generate } from '../agents/generate.ts';
export type { ModelActor, ModelOptions, PromptFor } from '../agents/model-actor.ts';
export type { ToolsOutput } from '../agents/run-tools.machine.ts';
export { type RunToolsActor, type RunToolsOptions, runTools } from '../agents/run-tools.ts';
export { type SearchInput, search } from '../agents/search.ts';
export type { AskedCall, ToolQuestion, ToolResult } from '../agents/tool-call.machine.ts';
export type { Round, ToolLimits, ToolsStop } from '../agents/tool-rounds.ts';
export { type ApprovalDecision, type ApprovalGiven, approval } from '../durable/approval.ts';
export type { AttemptPrompt, PromptTurn } from '../llm/attempts/attempt-options.ts';
export { AttemptsExhausted } from '../llm/attempts/attempts-exhausted.ts';
export type { RetryPolicy } from '../llm/attempts/retry-policy.ts';
export type { DeepPartial } from '../llm/attempts/updates.ts';
export { type Capability, type CapabilityContext, defineCapability } from '../tools/capability.ts';
