import type { Usage } from './budget.ts';
import type { RememberedRun } from './capability.ts';
import type { ChainInput } from './chain-input.ts';
import type { ContextMeasures } from './context-measures.ts';
import type { ContextOperation } from './context-operation.ts';
import type { Assessment, Decision } from './decision.ts';
import type { Envelope } from './envelope.ts';
import type { PhaseFailure } from './failure.ts';
import type { Interruption } from './interruption.ts';
import type { Retrieval } from './passage.ts';
import type { Phase } from './phase.ts';
import type { PhaseResults } from './phases/result.ts';
import type { UnderstandingReply } from './phases/understanding.ts';
import type { RecursionState } from './recursion.ts';
import type { FinalAnswer, SynthesisOutcome } from './synthesis.ts';

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
  readonly decision: Decision | null;
  readonly decisions: readonly Decision[];
  /** Where `routing` goes. */
  readonly direction: Phase;
  /** Times the current phase was tried again in this cycle. */
  readonly phaseRetries: number;
  readonly failure: PhaseFailure | null;
  readonly failures: readonly PhaseFailure[];
  /** Of the phases; what synthesis used is in `written`. */
  readonly usage: Usage;
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
