import {
  type CapabilityCall,
  type CapabilityDescriptor,
  type CapabilityResult,
  type Continuation,
  continuationSchema,
  type StopReason,
} from '../contracts/capability.ts';
import type { Verdict } from '../contracts/verdict.ts';

/** The rules of the bounded capability loop [R3, R5]. */

export function nothingToRun(call: CapabilityCall | null): Verdict {
  return { holds: call === null, inputs: { capability: call?.capability ?? null } };
}

/** Whether the wished capability exists; an empty name does not. */
export function capabilityKnown(call: CapabilityCall | null, known: readonly CapabilityDescriptor[]): Verdict {
  const name = call?.capability ?? '';
  return { holds: known.some((one) => one.name === name), inputs: { capability: name, known: known.length } };
}

export function continuationLimit(results: readonly CapabilityResult[], maxContinuations: number): Verdict {
  return { holds: results.length >= maxContinuations, inputs: { runs: results.length, maxContinuations } };
}

interface ReadContinuation {
  readonly continuation: Continuation | null;
  readonly call: CapabilityCall | null;
  readonly problem: string | null;
  readonly stopReason: StopReason;
}

/** What a decider said, checked: deciders are the user's code or a model. What is no continuation is told and not followed. */
export function readContinuation(said: unknown): ReadContinuation {
  const read = continuationSchema.safeParse(said);
  if (!read.success) {
    const [issue] = read.error.issues;
    const where = issue?.path.join('.') || 'what the decider said';
    const problem = `${where}: ${issue?.message ?? 'is no continuation'}`;
    const goesOn = (said as { done?: unknown } | null | undefined)?.done === false;
    return { continuation: null, call: null, problem, stopReason: goesOn ? 'invalid_next_step' : 'decider_failed' };
  }
  const call = read.data.done ? null : read.data.next;
  return { continuation: read.data, call, problem: null, stopReason: 'done' };
}

/** The last result with the decider's own output in its place, where it gave one that is not blank [R5]. */
export function synthesizeLast(
  results: readonly CapabilityResult[],
  finalOutput: string | null,
): readonly CapabilityResult[] {
  const last = results.at(-1);
  if (last === undefined || finalOutput === null || finalOutput.trim() === '') return results;
  return [...results.slice(0, -1), { ...last, output: finalOutput, synthesized: true }];
}
