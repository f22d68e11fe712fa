import type { PromiseActorLogic } from 'xstate';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { ArgumentsCheck, CapabilityCall, CapabilityResult } from '../contracts/capability.ts';
import type { ActionReply } from '../contracts/phase-io.ts';
import { port } from '../ports.ts';

/**
 * Parses the arguments of a call and holds them against the capability's schema. What it gives is JSON, as it was parsed: a
 * transformation in the schema happens when the capability runs. Never rejects for bad arguments.
 */
export type ValidateArguments = PromiseActorLogic<ArgumentsCheck, CapabilityCall>;

export interface ExecuteCapabilityInput {
  readonly runId: string;
  /** Which run of a capability it is within the run: the same when it is done again after a crash. */
  readonly step: string;
  readonly capability: string;
  readonly arguments: Record<string, unknown>;
  readonly sessionId: string | null;
  /** A result with more characters is a failed one. */
  readonly maxResultChars: number;
}

/** Runs a capability on checked arguments. What it throws comes back as `success: false`; it rejects for nothing but a bug [R7]. */
export type ExecuteCapability = PromiseActorLogic<CapabilityResult, ExecuteCapabilityInput>;

/** What a decider goes by: all results so far, the oldest first; of steps long past only the beginning of what they gave. */
export interface DecideContinuationInput {
  readonly request: string;
  /** What the model answered at first; null where the first step was given. */
  readonly reply: ActionReply | null;
  readonly results: readonly CapabilityResult[];
  /** Capability runs until the limit. */
  readonly runsLeft: number;
}

/**
 * The continuation decider [R1]: gives a Continuation, which is checked, since deciders are the user's code or a model. One that
 * rejects, or says what is none, ends the loop with the last result [R7].
 */
export type DecideContinuation = PromiseActorLogic<unknown, DecideContinuationInput>;

export const actionPorts = {
  attempt: port<typeof attemptMachine>('attempt'),
  validateArguments: port<ValidateArguments>('validateArguments'),
  executeCapability: port<ExecuteCapability>('executeCapability'),
  decideContinuation: port<DecideContinuation>('decideContinuation'),
};
