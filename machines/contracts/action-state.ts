import type { AttemptExecution, AttemptPolicy, ModelsReport, UsageInFlight, UsageReport } from './attempt.ts';
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
import type { ModelStatus } from './model-status.ts';
import type { ActionReply, PhaseInput } from './phase-io.ts';

/** The input of the action machine, which runs the capability loop. */
export interface ActionInput {
  readonly id: string;
  readonly input: Extract<PhaseInput, { phase: 'action' }>;
  /** Instructions for the prompts of both kinds of calls; by default none. */
  readonly instructions?: string | null;
  readonly policy: AttemptPolicy;
  /** The policy of the calls in which the model decides what follows a run. */
  readonly continuationPolicy: AttemptPolicy;
  /** What the run knows of the models; by default nothing. */
  readonly models?: readonly ModelStatus[];
  readonly decider: DeciderKind;
  /** Capability runs in the whole request, those of earlier Actions included. */
  readonly maxContinuations: number;
  /** Milliseconds for a decider function, and for one run of a capability that defines no timeout. */
  readonly capabilityMs: number;
  readonly maxResultChars: number;
  /** Input and output tokens of all model calls of the loop. The last call may exceed it. */
  readonly maxTokens: number;
  readonly sessionId: string | null;
  /** The first step if it is given; otherwise the model chooses it. */
  readonly call: CapabilityCall | null;
  /** The loop of the same request so far; omitted in its first Action. Without a `reply`, the model classifies again. */
  readonly earlier?: Pick<ActionState, 'reply' | 'prose' | 'runs' | 'results' | 'memory'> | null | undefined;
  /** Whether another machine invokes this one. If so, it receives every `LoopReport`. */
  readonly hasParent?: boolean;
}

/** Sent to the parent machine: usage, what is known of the models, and the loop's state when a capability run starts or ends. */
export type LoopReport = UsageReport | ModelsReport | { readonly type: 'loop.progressed'; readonly loop: ActionState };

/** What went wrong. `code` is null unless the requested capability call was invalid. */
export interface LoopProblem {
  readonly code: CapabilityFailure | null;
  readonly message: string;
}

/** The state of the loop, all of it JSON. `call` is the requested next step, `checked` its validated arguments. */
export interface ActionState extends Omit<ActionInput, 'earlier'> {
  readonly models: readonly ModelStatus[];
  readonly hasParent: boolean;
  readonly reply: ActionReply | null;
  /** Whether the model answered in prose. */
  readonly prose: boolean;
  readonly checked: Record<string, unknown>;
  /** Capability runs that started: one more than `runs` while a capability runs. */
  readonly begun: number;
  /** Capability runs of the request that ended. */
  readonly runs: number;
  /** All results, the oldest first. Older results keep only the beginning of their output. */
  readonly results: readonly CapabilityResult[];
  /** What the session remembers of the loop. */
  readonly memory: readonly MemoryEntry[];
  readonly continuation: Continuation | null;
  readonly stopReason: StopReason;
  readonly problem: LoopProblem | null;
  readonly failure: Failure | null;
  readonly execution: AttemptExecution;
  /** Reported by the attempt that is running. */
  readonly usageInFlight: UsageInFlight;
}
