import type { AttemptExecution, AttemptPolicy, ModelsReport, UsageInFlight, UsageReport } from './attempt.ts';
import type {
  Approver,
  CallApproval,
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
  /** Identifies the run to which approvals are bound. */
  readonly identity: string;
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
  /** Calls of one step that run at the same time: 1 to 4. */
  readonly maxParallelCalls: number;
  /** Steps in which a deciding model may make the same call. */
  readonly maxSameCalls: number;
  /** Milliseconds for a decider function, and for one run of a capability that defines no timeout. */
  readonly capabilityMs: number;
  readonly maxResultChars: number;
  /** Input and output tokens of all model calls of the loop. The last call may exceed it. */
  readonly maxTokens: number;
  readonly sessionId: string | null;
  /** Who approves calls that need it. */
  readonly approver: Approver;
  /** The milliseconds that the user has to approve the calls of a step; null: no limit. */
  readonly approvalMs: number | null;
  /** The calls of the first step if they are given; if empty, the model chooses them. */
  readonly calls: readonly CapabilityCall[];
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

/**
 * The permission for one call. It is bound to `digest`, that of the run's identity, the capability and its arguments, and decided once. While it is `editing`,
 * the `edited` arguments are validated.
 */
export interface Approval {
  readonly questionId: string;
  readonly identity: string;
  readonly digest: string;
  readonly state: 'pending' | 'editing' | Exclude<CallApproval, 'invalid'>;
  readonly by: 'user' | 'program' | 'limit' | null;
  readonly reason: string;
  readonly edited?: Readonly<Record<string, unknown>>;
  /** Only the client can run the call: the user responds to it or denies it. */
  readonly isClientTool?: true;
  /** The arguments that the model wrote, if they were edited. */
  readonly original?: Record<string, unknown>;
}

/**
 * One call of the current step. It waits while `slot` and `result` are null. A call that is invalid, denied or responded to has a result and
 * never gets an id or a slot.
 */
export interface StepCall {
  readonly capability: string;
  /** The validated arguments. */
  readonly arguments: Record<string, unknown>;
  readonly id: string | null;
  /** The slot that runs it, from 1. */
  readonly slot: number | null;
  readonly result: CapabilityResult | null;
  /** Set for a call that needs approval. */
  readonly approval?: Approval;
  /** Set for a native tool call. */
  readonly toolCall?: NonNullable<CapabilityResult['toolCall']>;
  readonly written?: NonNullable<CapabilityResult['written']>;
}

/** The state of the loop, all of it JSON. `calls` are the requested calls that are not part of a step yet. */
export interface ActionState extends Omit<ActionInput, 'earlier'> {
  readonly models: readonly ModelStatus[];
  readonly hasParent: boolean;
  readonly reply: ActionReply | null;
  /** Whether the model answered in prose. */
  readonly prose: boolean;
  /** The calls of the current step, until their results are recorded. */
  readonly step: readonly StepCall[];
  /** In how many steps each call was requested, by a digest of its capability and arguments. */
  readonly requested: Readonly<Record<string, number>>;
  /** The number of approval questions asked so far. */
  readonly asked: number;
  /** Capability runs that started: more than `runs` while the calls of a step run. */
  readonly begun: number;
  /** Capability runs of the request that ended, and calls whose result was an answer of the user or the program. */
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
