import type { Limits, Usage } from './budget.ts';
import type { CapabilityDescriptor } from './capability.ts';
import type { ContextMeasures } from './context-measures.ts';
import type { ContextOperation } from './context-operation.ts';
import type { Assessment, Decision } from './decision.ts';
import type { Envelope } from './envelope.ts';
import type { PhaseFailure } from './failure.ts';
import type { Message } from './message.ts';
import type { Retrieval } from './passage.ts';
import type { Phase } from './phase.ts';
import type { PhaseResults } from './phases/result.ts';
import type { UnderstandingReply } from './phases/understanding.ts';
import type { RecursionState } from './recursion.ts';
import type { FinalAnswer, SynthesisReply } from './synthesis.ts';
import type { Thresholds } from './thresholds.ts';

/** What a run is started with. Defaults are filled in at the edge: here nothing is optional. */
export interface ChainInput {
  readonly runId: string;
  readonly request: string;
  readonly origin: Phase;
  readonly mode: RecursionState['mode'];
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly limits: Limits;
  readonly thresholds: Thresholds;
  readonly contextWindowTokens: number;
  readonly capabilities: readonly CapabilityDescriptor[];
  readonly hasDecider: boolean;
  /** Whether there is anything to search: an answer is then held against what was found. */
  readonly hasDocuments: boolean;
  /** Whether messages and answers can be compared by their embeddings. */
  readonly hasEmbeddings: boolean;
  /** Earlier turns that the request builds on; ids must differ from each other. */
  readonly messages: readonly Message[];
}

/** Why the phases were left other than by a decision of Yield. */
export type Interruption =
  | { readonly kind: 'cancelled' | 'interrupted'; readonly reason: string }
  | { readonly kind: 'finished_by_user' | 'deadline' | 'budget' | 'phase_failed' | 'model_unavailable' };

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
  readonly usage: Usage;
  readonly corrections: number;
  readonly lastMessageAtMs: number;
  readonly interruption: Interruption | null;
  readonly written: SynthesisReply | null;
  readonly synthesisFailure: string | null;
  readonly answer: FinalAnswer | null;
}
