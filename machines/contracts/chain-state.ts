import * as z from 'zod/mini';
import type { ActionState } from './action-state.ts';
import { type CallInFlight, type EarlyReply, somePolicyNumbersSchema, type UsageInFlight } from './attempt.ts';
import { approverSchema, capabilityDescriptorSchema, deciderKindSchema } from './capability.ts';
import {
  type ContextDocument,
  type ContextMeasures,
  type ContextOperation,
  consentForSchema,
  consentSchema,
  type Envelope,
} from './context.ts';
import { type Assessment, answerSketchSchema, type Decision, type Interruption } from './decision.ts';
import type { PhaseFailure } from './failure.ts';
import { limitsSchema, thresholdsSchema } from './limits.ts';
import { attachmentSchema, type Message, messageSchema } from './message.ts';
import { type ModelStatus, modelStatusSchema } from './model-status.ts';
import type { Retrieval, RetrievePassagesInput } from './passage.ts';
import { type Phase, phaseSchema } from './phase.ts';
import type { PhaseResults, UnderstandingReply } from './phase-io.ts';
import { profileSchema } from './profile.ts';
import {
  type FinalAnswer,
  requestedValueSchema,
  type Step,
  type SynthesisOutcome,
  type ValueOutcome,
} from './synthesis.ts';
import { priceSchema, type Usage } from './usage.ts';

/** One decision to continue, as loop detection compares it. */
const continueDecisionSchema = z.object({
  cycle: z.int(),
  target: phaseSchema,
  fingerprint: z.string(),
  sketch: z.nullable(answerSketchSchema),
});
export type ContinueDecision = Readonly<z.infer<typeof continueDecisionSchema>>;

/**
 * The position of a run. `cycle` is the current cycle (from 1), `completedCycles` counts the cycles that ended with a
 * decision of Yield or with a direction of the user, `origin` is the phase where the current cycle started, and `step` counts entered phases. `history` keeps
 * only the newest 64 decisions, so a step costs the same in any cycle.
 */
export const recursionStateSchema = z.object({
  mode: z.enum(['automatic', 'manual']),
  cycle: z.int().check(z.gte(1)),
  completedCycles: z.int().check(z.gte(0)),
  step: z.int().check(z.gte(0)),
  origin: phaseSchema,
  continuationPrompt: z.nullable(z.string()),
  history: z.readonly(z.array(continueDecisionSchema)),
});
export type RecursionState = Readonly<z.infer<typeof recursionStateSchema>>;

/** The input of a run, and the first entry of its journal. Callers fill in defaults: nothing is optional here. */
export const chainInputSchema = z.object({
  runId: z.string().check(z.minLength(1)),
  /** Unique, even among runs that reuse a `runId`. In older journals, it is absent and `runId` takes its place. */
  identity: z.exactOptional(z.string()),
  request: z.string(),
  origin: phaseSchema,
  mode: recursionStateSchema.shape.mode,
  /** Milliseconds since the epoch. */
  startedAtMs: z.number(),
  limits: limitsSchema,
  thresholds: thresholdsSchema,
  /** How each phase gets its reply. */
  profile: profileSchema,
  /** The smallest context window of the models. */
  contextWindowTokens: z.number().check(z.positive()),
  /** Number of fallback models, which take over when the model before has no retry left. */
  fallbackModels: z.int().check(z.gte(0)),
  /** The reply forms that worked in earlier runs, for the first model and its fallbacks; absent if none is known. */
  models: z.exactOptional(z.readonly(z.array(z.readonly(modelStatusSchema)))),
  capabilities: z.readonly(z.array(z.readonly(capabilityDescriptorSchema))),
  /** Who decides whether the capability loop continues after a round of calls. */
  continuation: deciderKindSchema,
  /** Who approves calls of capabilities that need it. */
  approver: approverSchema,
  /** The numbers of the retry policy by task; they replace those of `limits`. */
  policies: z.record(z.string(), somePolicyNumbersSchema),
  /** The session of the request; null without one. */
  sessionId: z.nullable(z.string()),
  /** Who decides about operations that need consent, and which these are. */
  consent: consentSchema,
  consentFor: consentForSchema,
  /** Prices in `currency` of the first model and its fallbacks, in order; null if unknown. */
  prices: z.readonly(z.array(z.nullable(z.readonly(priceSchema)))),
  currency: z.nullable(z.string()),
  /** The most tokens of a reply of the first model and its fallbacks, in order. */
  maxOutputTokens: z.readonly(z.array(z.int().check(z.gte(1)))),
  /** Whether there are documents to search: an answer is then compared with the passages found. */
  hasDocuments: z.boolean(),
  /** Whether messages and answers can be compared by embeddings. */
  hasEmbeddings: z.boolean(),
  /** Whether another grader than the default one grades the answers. */
  hasGrader: z.boolean(),
  /** Persona, language, style and domain rules for the answer; null if none are given. */
  instructions: z.nullable(z.string()),
  /** Absent if the answer is only text. */
  requestedValue: z.exactOptional(z.readonly(requestedValueSchema)),
  /** Images and files of the request. */
  attachments: z.readonly(z.array(z.readonly(attachmentSchema))),
  /** Earlier turns of the conversation; their ids must be unique. */
  messages: z.readonly(z.array(z.readonly(messageSchema))),
});
export type ChainInput = Readonly<z.infer<typeof chainInputSchema>>;

/** A search that is retried after a wait. */
export interface SourceRetry {
  readonly retries: number;
  readonly waitMs: number;
  /** All waits so far, this one included. */
  readonly waitedMs: number;
}

/** The operations that Understanding proposes, and the measurements behind them. */
export interface ContextEvaluation {
  /** Whether the model answered in prose. */
  readonly prose: boolean;
  /** The attempt that rated the messages; null if none did. */
  readonly attemptId: string | null;
  readonly reply: UnderstandingReply;
  readonly measures: ContextMeasures;
  readonly operations: readonly ContextOperation[];
}

/**
 * What a run knows of its session: the number of its newest turn, the recalled messages, those that the session keeps
 * but that did not fit into the run, and how many messages the session could not keep.
 */
export interface SessionState {
  readonly turns: number;
  readonly messages: readonly Message[];
  readonly omitted: readonly Message[];
  readonly droppedMessages: number;
}

/** The replies of a shared call to the phases after the one that made it. A phase removes its reply when it uses it. */
export interface SharedReplies {
  readonly attemptId: string;
  readonly cycle: number;
  /** Whether the model answered in prose. */
  readonly prose: boolean;
  readonly replies: { readonly [P in Phase]?: unknown };
}

/** An error of a document source: its message, and what it reports about a rate limit. */
export interface SourceError {
  readonly message: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly retryAfterMs: number | null;
}

/** A search of the documents. `result` is null while it is in progress. */
export interface Search {
  readonly input: RetrievePassagesInput;
  readonly result:
    | { readonly found: Retrieval; readonly error: null }
    | { readonly found: null; readonly error: SourceError }
    | null;
}

/**
 * A model call that started before its phase. The phase uses the reply only if it would make the same call: `digest` is that of everything
 * that the prompt is rendered from. `call` is what is charged if the call is aborted.
 */
export interface EarlyCall {
  readonly task: 'observation' | 'yield';
  /** The phases that its reply is for, if it is brief. */
  readonly phases?: readonly Phase[];
  readonly digest: string;
  readonly attemptId: string;
  readonly call: CallInFlight;
  /** The part of the cost limit that is reserved for the call; null without a limit. */
  readonly maxCost: number | null;
  readonly result: EarlyReply | null;
}

/** The reports of the invoked machines. If these are aborted, their usage is charged and their results are kept. */
export interface InFlight {
  readonly usage: UsageInFlight;
  /** The capability loop, once it has started a capability. */
  readonly loop: ActionState | null;
}

/** The state as the journal records it. Reports in flight are left out: their own entries have the same values. */
export type RecordedState = Omit<ChainState, 'inFlight'>;

/**
 * The complete state of a run, all of it JSON. Its size is bounded however long the run lasts: `messages` by the limits
 * and by what must stay, `decisions` and `failures` to the newest 16, the recursion history to the newest 64.
 */
export interface ChainState extends ChainInput {
  /** What the run has learned about the first model and its fallbacks, in order. */
  readonly models: readonly ModelStatus[];
  readonly envelope: Envelope;
  /** The content that the last phase received. */
  readonly received: string;
  readonly recursion: RecursionState;
  readonly results: PhaseResults;
  /** The results of the steps, oldest first: the newest 64, each of at most 4,000 characters. */
  readonly steps: readonly Step[];
  /** The operations that the last phase applied to the context. */
  readonly applied: readonly ContextOperation[];
  /** What `messages` is computed from: the newest operations, which can be undone, and the messages before them. */
  readonly history: ContextDocument;
  /** How often the user overruled an operation. */
  readonly overrides: number;
  readonly shared: SharedReplies | null;
  readonly early: EarlyCall | null;
  /** Set from Action until Experience takes its result. */
  readonly search: Search | null;
  /** Set between Experience's search and its model call. */
  readonly retrieval: { readonly found: Retrieval; readonly failure: string | null } | null;
  /** Set while Experience waits for a rate-limited source: the retries so far, and the current wait. */
  readonly sourceRetry: SourceRetry | null;
  /** The id of the question that is waiting for the user's answer; null if there is none. */
  readonly question: string | null;
  /** Whether the user was already asked in this run: eviction does not ask again. */
  readonly consentAsked: boolean;
  /** Whether Understanding was entered early because the context must shrink before a model can be called. */
  readonly detour: boolean;
  /** Set between Understanding's measurement and its model call. */
  readonly measures: ContextMeasures | null;
  /** Tokens per character at the last measurement, to estimate messages added since. */
  readonly tokensPerChar: number;
  /** Set between Understanding's model call and the user's consent. */
  readonly evaluation: ContextEvaluation | null;
  readonly assessment: Assessment | null;
  readonly decision: Decision | null;
  readonly decisions: readonly Decision[];
  /** The phase entered last. */
  readonly phase: Phase;
  /** Where `routing` goes. */
  readonly direction: Phase;
  /** Whether the user directed the run to Action with a prompt: it is a new request, which Action classifies. */
  readonly newPrompt: boolean;
  /** How often the current phase was repeated in this cycle. */
  readonly phaseRetries: number;
  readonly failure: PhaseFailure | null;
  readonly failures: readonly PhaseFailure[];
  /** The newest failed capability runs. */
  readonly failedRuns: readonly PhaseFailure[];
  /** Usage of the phases; `written` has the usage of synthesis. */
  readonly usage: Usage;
  /** The cost of the calls so far by task, in the currency of the prices. */
  readonly costs: Readonly<Record<string, number>>;
  readonly inFlight: InFlight;
  /** What the run recalled of its session; null without a session, or if it was not recalled. */
  readonly session: SessionState | null;
  /** Why part of the session was not recalled; null if all was, or without a session. */
  readonly sessionProblem: string | null;
  readonly corrections: number;
  readonly lastMessageAtMs: number;
  readonly interruption: Interruption | null;
  /** The outcome of writing the answer; null before. */
  readonly written: SynthesisOutcome | null;
  /** The outcome of stating the answer as a value; null before, or if no model was asked. */
  readonly stated: ValueOutcome | null;
  readonly answer: FinalAnswer | null;
}
