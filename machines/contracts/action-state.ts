import type { AttemptExecution, AttemptPolicy, UsageReport } from './attempt.ts';
import type {
  CapabilityCall,
  CapabilityFailure,
  CapabilityResult,
  Continuation,
  DeciderKind,
  MemoryEntry,
  StopReason,
} from './capability.ts';
import type { Failure } from './failure.ts';
import type { ActionReply, PhaseInput } from './phase-io.ts';
import type { Usage } from './usage.ts';

/** What the capability loop is started with. */
export interface ActionInput {
  readonly id: string;
  readonly input: Extract<PhaseInput, { phase: 'action' }>;
  readonly policy: AttemptPolicy;
  readonly decider: DeciderKind;
  readonly maxContinuations: number;
  /** Milliseconds for one run of a capability that says nothing of its own, and for a function that decides. */
  readonly capabilityMs: number;
  readonly maxResultChars: number;
  /** Tokens, in and out, that the loop's model calls may use together; a call begun with some left may overrun. */
  readonly maxTokens: number;
  readonly sessionId: string | null;
  /** The first step, where it is known: then no model is asked for it. */
  readonly call: CapabilityCall | null;
  /** Whether a machine invokes this one: if so, it is sent a `LoopReport` for each change in usage or capability runs. */
  readonly hasParent?: boolean;
}

/** Sent to the parent machine: usage, and the loop's state when a capability run starts or ends. */
export type LoopReport = UsageReport | { readonly type: 'loop.progressed'; readonly loop: ActionState };

/** What was wrong, in words; with a code where it was the next step [R5]. */
export interface LoopProblem {
  readonly code: CapabilityFailure | null;
  readonly message: string;
}

/** The loop's state: JSON, all of it. `call` is the step wished next, `checked` its arguments once they are known to fit. */
export interface ActionState extends ActionInput {
  readonly hasParent: boolean;
  readonly reply: ActionReply | null;
  readonly checked: Record<string, unknown>;
  /** Capability runs that were begun; one more than `runs` while a capability runs. */
  readonly begun: number;
  /** Capability runs that ended. */
  readonly runs: number;
  /** All results, the oldest first; of steps long past only the beginning of what they gave. */
  readonly results: readonly CapabilityResult[];
  /** What a session remembers of it [R4]. */
  readonly memory: readonly MemoryEntry[];
  readonly continuation: Continuation | null;
  readonly stopReason: StopReason;
  readonly problem: LoopProblem | null;
  readonly failure: Failure | null;
  readonly execution: AttemptExecution;
  /** Reported by the model call in flight. */
  readonly usageInFlight: Usage;
}
