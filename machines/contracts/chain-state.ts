import { z } from 'zod';
import type { ActionState } from './action-state.ts';
import { capabilityDescriptorSchema, deciderKindSchema, type RememberedRun } from './capability.ts';
import type { ContextMeasures, ContextOperation, Envelope } from './context.ts';
import type { Assessment, Decision, GuardResult, Interruption } from './decision.ts';
import type { PhaseFailure } from './failure.ts';
import { limitsSchema, thresholdsSchema } from './limits.ts';
import { messageSchema } from './message.ts';
import type { Retrieval } from './passage.ts';
import { type Phase, phaseSchema } from './phase.ts';
import type { PhaseResults, UnderstandingReply } from './phase-io.ts';
import type { FinalAnswer, SynthesisOutcome } from './synthesis.ts';
import { priceSchema, type Usage } from './usage.ts';

/** One decision to go on, as loop detection sees it [Y7]. */
const turnSchema = z.object({ cycle: z.int(), target: phaseSchema, fingerprint: z.string() });
export type Turn = Readonly<z.infer<typeof turnSchema>>;

/**
 * Where the run stands [C2, Y6]. `cycle` is the current one (from 1), `completedCycles` how many reached a decision,
 * `origin` the phase the current cycle started at, `step` how many phases were entered. `history` keeps the newest
 * decisions only (64), so that a step costs the same at any cycle.
 */
export const recursionStateSchema = z.object({
  mode: z.enum(['automatic', 'manual']),
  cycle: z.int().min(1),
  completedCycles: z.int().min(0),
  step: z.int().min(0),
  origin: phaseSchema,
  continuationPrompt: z.string().nullable(),
  history: z.array(turnSchema).readonly(),
});
export type RecursionState = Readonly<z.infer<typeof recursionStateSchema>>;

/** What a run is started with, and what its journal begins with. Defaults are filled in at the edge: here nothing is optional. */
export const chainInputSchema = z.object({
  runId: z.string().min(1),
  request: z.string(),
  origin: phaseSchema,
  mode: recursionStateSchema.shape.mode,
  /** Milliseconds since the epoch. */
  startedAtMs: z.number(),
  limits: limitsSchema,
  thresholds: thresholdsSchema,
  /** Of the model that takes the least. */
  contextWindowTokens: z.number().positive(),
  /** How many models stand behind the first, to take over where it has no retry left. */
  fallbackModels: z.int().min(0),
  capabilities: z.array(capabilityDescriptorSchema.readonly()).readonly(),
  /** Who says what comes after a capability's result. */
  decider: deciderKindSchema,
  /** The session that the request belongs to; null for one by itself. */
  sessionId: z.string().nullable(),
  /** What each model costs, the first and its fallbacks in order, in `currency`; null where that is not known. */
  prices: z.array(priceSchema.readonly().nullable()).readonly(),
  currency: z.string().nullable(),
  /** Whether there is anything to search: an answer is then held against what was found. */
  hasDocuments: z.boolean(),
  /** Whether messages and answers can be compared by their embeddings. */
  hasEmbeddings: z.boolean(),
  /** Earlier turns that the request builds on; ids must differ from each other. */
  messages: z.array(messageSchema.readonly()).readonly(),
});
export type ChainInput = Readonly<z.infer<typeof chainInputSchema>>;

/** A search to come again after a wait. */
export interface SourceRetry {
  readonly retries: number;
  readonly waitMs: number;
  /** All waits so far, this one included. */
  readonly waitedMs: number;
}

/** What Understanding would do, and the measures that it went by. */
export interface Evaluation {
  readonly reply: UnderstandingReply;
  readonly measures: ContextMeasures;
  readonly operations: readonly ContextOperation[];
}

/** What the machines in flight have reported. If they are aborted, it is charged and kept. */
export interface InFlight {
  readonly usage: Usage;
  /** The capability loop, once it has started a capability. */
  readonly loop: ActionState | null;
}

/** The state as the journal records it. Reports in flight are left out: their own entries have the same values. */
export type RecordedState = Omit<ChainState, 'inFlight'>;

/**
 * The whole state of a run: JSON, all of it. It stays bounded however long a run lasts: `messages` by the limits and what must stay, `decisions`
 * and `failures` to the newest 16, the recursion history to the newest 64.
 */
export interface ChainState extends ChainInput {
  readonly envelope: Envelope;
  readonly recursion: RecursionState;
  readonly results: PhaseResults;
  /** What the step that just ended applied to the context. */
  readonly applied: readonly ContextOperation[];
  /** Experience between its two halves. */
  readonly retrieval: { readonly found: Retrieval; readonly failure: string | null } | null;
  /** Experience while its source limits the rate: how often it was asked again, and the wait under way. */
  readonly sourceRetry: SourceRetry | null;
  /** The user was asked about their messages in this run: nobody asks again for want of room. */
  readonly consentAsked: boolean;
  /** Understanding was entered before its turn: the context must shrink before any phase can be asked. */
  readonly detour: boolean;
  /** Understanding before its model call. */
  readonly measures: ContextMeasures | null;
  /** Tokens a character, as last measured: what grows between two measurements is estimated by it. */
  readonly tokensPerChar: number;
  /** Understanding between its model call and the user's consent. */
  readonly evaluation: Evaluation | null;
  readonly assessment: Assessment | null;
  /** The results of Yield's rules, by name, as `deciding` last evaluated them. */
  readonly rules: Readonly<Record<string, GuardResult>>;
  readonly decision: Decision | null;
  readonly decisions: readonly Decision[];
  /** The phase entered last. */
  readonly phase: Phase;
  /** Where `routing` goes. */
  readonly direction: Phase;
  /** Times the current phase was tried again in this cycle. */
  readonly phaseRetries: number;
  readonly failure: PhaseFailure | null;
  readonly failures: readonly PhaseFailure[];
  /** Of the phases; what synthesis used is in `written`. */
  readonly usage: Usage;
  readonly inFlight: InFlight;
  /** The capability runs of all cycles in order, the newest 64: what the session will remember of them [R4]. */
  readonly runs: readonly RememberedRun[];
  /** Why not all of the session was recalled; null where it was, and without a session. */
  readonly sessionProblem: string | null;
  readonly corrections: number;
  readonly lastMessageAtMs: number;
  readonly interruption: Interruption | null;
  /** How the writing of the answer went; null before. */
  readonly written: SynthesisOutcome | null;
  readonly answer: FinalAnswer | null;
}
