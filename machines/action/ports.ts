import type { PromiseActorLogic } from 'xstate';
import type { attemptMachine } from '../attempt/attempt.machine.ts';
import type { CapabilityCall, CapabilityResult } from '../contracts/capability.ts';
import type { ActionReply } from '../contracts/phases/action.ts';
import { port } from '../ports.ts';

export type ArgumentsCheck =
  | { readonly ok: true; readonly arguments: Record<string, unknown> }
  | { readonly ok: false; readonly problem: string };

/** Parses the arguments of a call and holds them against the capability's schema. Never rejects for bad arguments. */
export type ValidateArguments = PromiseActorLogic<ArgumentsCheck, CapabilityCall>;

export interface ExecuteCapabilityInput {
  readonly capability: string;
  readonly arguments: Record<string, unknown>;
}

/** Runs a capability. What it throws comes back as `success: false`; it rejects for nothing but a bug [R7]. */
export type ExecuteCapability = PromiseActorLogic<CapabilityResult, ExecuteCapabilityInput>;

export interface DecideContinuationInput {
  readonly request: string;
  readonly reply: ActionReply;
  readonly results: readonly CapabilityResult[];
}

/** Done, perhaps with an output in place of the last result's [R5], or the next step, still unchecked. */
export type Continuation =
  | { readonly done: true; readonly finalOutput: string | null }
  | { readonly done: false; readonly next: CapabilityCall };

/** The continuation decider [R1]. One that rejects ends the loop with the last result [R7]. */
export type DecideContinuation = PromiseActorLogic<Continuation, DecideContinuationInput>;

export const actionPorts = {
  attempt: port<typeof attemptMachine>('attempt'),
  validateArguments: port<ValidateArguments>('validateArguments'),
  executeCapability: port<ExecuteCapability>('executeCapability'),
  decideContinuation: port<DecideContinuation>('decideContinuation'),
};
