import type { PromiseActorLogic } from 'xstate';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type {
  ApprovalAnswer,
  ArgumentsCheck,
  CapabilityCall,
  CapabilityDescriptor,
  CapabilityResult,
  CapabilityRunResult,
} from '../contracts/capability.ts';
import type { ActionReply } from '../contracts/phase-io.ts';
import { missingActor } from '../missing-actor.ts';

export interface ExecuteCapabilityInput {
  readonly runId: string;
  /** Identifies this call within the run of the chain. It is the same if the call is repeated after a crash. */
  readonly id: string;
  readonly capability: string;
  readonly arguments: Record<string, unknown>;
  readonly sessionId: string | null;
  /** A longer result counts as failed. */
  readonly maxResultChars: number;
}

export interface ValidateArgumentsInput {
  readonly calls: readonly CapabilityCall[];
  /** The tools that only the client can run; absent if there are none. */
  readonly clientTools?: readonly CapabilityDescriptor[];
  readonly sessionId: string | null;
  /** The time limit of each call, for its schema and for the capability's function `approval`. */
  readonly timeoutMs: number;
}

/** A call that needs approval: the argument of the program's function `approve`. */
export interface ApprovalRequest {
  readonly capability: string;
  /** The validated arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly questionId: string;
  readonly sessionId: string | null;
}

export interface ApproveCallsInput {
  readonly calls: readonly ApprovalRequest[];
  /** The time limit of each decision. */
  readonly timeoutMs: number;
}

/** What a decider sees. */
export interface DecideContinuationInput {
  readonly request: string;
  /** The model's first reply; null if the first step was given. */
  readonly reply: ActionReply | null;
  /** All results so far, the oldest first. Old outputs are shortened. */
  readonly results: readonly CapabilityResult[];
  /** Capability runs until the limit. */
  readonly runsLeft: number;
}

/** The actors that the capability loop invokes. */
export type ActionActors = {
  readonly attempt: typeof attemptMachine;
  /**
   * Parses the arguments of each call and validates them against the schema of its capability. Returns them as parsed, in order:
   * transformations in the schema happen when the capability runs. Does not reject for invalid arguments, or for a schema that takes
   * longer than `timeoutMs`. `needsApproval` is true if it cannot be determined.
   */
  readonly validateArguments: PromiseActorLogic<readonly ArgumentsCheck[], ValidateArgumentsInput>;
  /** Calls the program's function `approve` for each call. A call without an answer is denied; if this rejects, all are. */
  readonly approveCalls: PromiseActorLogic<readonly ApprovalAnswer[], ApproveCallsInput>;
  /** Runs a capability. Its errors come back as `success: false`; only a bug rejects. */
  readonly executeCapability: PromiseActorLogic<CapabilityRunResult, ExecuteCapabilityInput>;
  /** Asks the user's function. Its reply is validated; a rejection or an invalid reply ends the loop with the last result. */
  readonly decideContinuation: PromiseActorLogic<unknown, DecideContinuationInput>;
};

export const missingActionActors: ActionActors = {
  attempt: missingActor('attempt'),
  validateArguments: missingActor('validateArguments'),
  approveCalls: missingActor('approveCalls'),
  executeCapability: missingActor('executeCapability'),
  decideContinuation: missingActor('decideContinuation'),
};
