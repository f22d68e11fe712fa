import type { PromiseActorLogic } from 'xstate';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { ArgumentsCheck, CapabilityCall, CapabilityResult } from '../contracts/capability.ts';
import type { ActionReply } from '../contracts/phase-io.ts';
import { missingActor } from '../missing-actor.ts';

export interface ExecuteCapabilityInput {
  readonly runId: string;
  /** Identifies this capability run within the chain run. It is the same if the run is repeated after a crash. */
  readonly step: string;
  readonly capability: string;
  readonly arguments: Record<string, unknown>;
  readonly sessionId: string | null;
  /** A longer result counts as failed. */
  readonly maxResultChars: number;
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
   * Parses a call's arguments and validates them against the capability's schema. Returns them as parsed: transformations
   * in the schema happen when the capability runs. Does not reject for invalid arguments.
   */
  readonly validateArguments: PromiseActorLogic<ArgumentsCheck, CapabilityCall>;
  /** Runs a capability. Its errors come back as `success: false`; only a bug rejects. */
  readonly executeCapability: PromiseActorLogic<CapabilityResult, ExecuteCapabilityInput>;
  /** Asks the user's function. Its reply is validated; a rejection or an invalid reply ends the loop with the last result. */
  readonly decideContinuation: PromiseActorLogic<unknown, DecideContinuationInput>;
};

export const missingActionActors: ActionActors = {
  attempt: missingActor('attempt'),
  validateArguments: missingActor('validateArguments'),
  executeCapability: missingActor('executeCapability'),
  decideContinuation: missingActor('decideContinuation'),
};
