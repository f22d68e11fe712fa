import type { Decision, Interruption } from '../../../../machines/contracts/decision.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { Usage } from '../../../../machines/contracts/usage.ts';

/** What an input says where its fields are there and right; null or nothing where one is not. */
export interface Facts {
  readonly request: string | null;
  readonly steps: readonly { readonly stepId: string; readonly phase: string; readonly content: string }[];
  readonly confidence: number;
  readonly failures: readonly { readonly phase: string }[];
  readonly converged: boolean | null;
  readonly passes: number | null;
  readonly ttl: number | null;
  readonly run: RunFacts;
}

export interface RunFacts {
  /** Undefined: left out. */
  readonly answer: string | null | undefined;
  readonly draft: {
    readonly text: string;
    readonly confidence: number;
    readonly usedMessageIds: readonly string[];
  } | null;
  readonly messages: readonly Message[];
  readonly phases: readonly string[];
  readonly mode: 'automatic' | 'manual';
  readonly interruption: Interruption | null;
  readonly decision: Decision | null;
  readonly limits: Readonly<
    Record<'maxCycles' | 'maxModelCalls' | 'maxTokens' | 'synthesisReserveTokens' | 'totalMs', number | null>
  >;
  readonly hasDocuments: boolean;
  readonly usage: Usage;
  readonly currency: string | null;
  readonly elapsedMs: number | null;
  readonly excess: { readonly tokens: number; readonly messages: number };
  readonly sourceFailure: string | null;
  readonly sessionProblem: string | null;
}
