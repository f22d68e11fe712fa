import type { CapabilityCall, CapabilityDescriptor, CapabilityResult } from '../contracts/capability.ts';
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

/** The last result with the decider's own output in its place, where it gave one that is not blank [R5]. */
export function synthesizeLast(
  results: readonly CapabilityResult[],
  finalOutput: string | null,
): readonly CapabilityResult[] {
  const last = results.at(-1);
  if (last === undefined || finalOutput === null || finalOutput.trim() === '') return results;
  return [...results.slice(0, -1), { ...last, output: finalOutput, synthesized: true }];
}
