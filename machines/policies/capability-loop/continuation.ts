import type { ActionState } from '../../contracts/action-state.ts';
import type { CapabilityFailure, CapabilityResult, Continuation } from '../../contracts/capability.ts';

type Read = Pick<ActionState, 'continuation' | 'call' | 'problem'>;

/**
 * What a decider said, read: deciders are the user's code or a model. What is no continuation is told and not followed; a next step
 * without a name, or whose arguments are neither an object nor JSON text, is told apart from it [R5].
 */
export function readContinuation(said: unknown): Read {
  try {
    const { done, finalOutput, next } = Object(said) as Record<string, unknown>;
    if (done === false) return goingOn(next);
    if (done === true && (typeof finalOutput === 'string' || finalOutput === null || finalOutput === undefined))
      return { continuation: { done, finalOutput: finalOutput ?? null }, call: null, problem: null };
    return unreadable(done === true ? 'its finalOutput is no text' : 'it does not say whether it is done');
  } catch {
    return unreadable('it cannot be read');
  }
}

function goingOn(said: unknown): Read {
  const { capability, arguments: given } = Object(said) as Record<string, unknown>;
  if (typeof capability !== 'string') return noStep('missing_name', 'the next step has no name');
  const text = typeof given === 'string' ? given : isObject(given) ? JSON.stringify(given) : null;
  if (text === null) return noStep('arguments_not_object', 'the arguments of the next step are no object');
  const next = { capability, arguments: text };
  return { continuation: { done: false, next }, call: next, problem: null };
}

function isObject(given: unknown): boolean {
  return typeof given === 'object' && given !== null && !Array.isArray(given);
}

const noStep = (code: CapabilityFailure, message: string): Read => ({
  continuation: { done: false, next: null },
  call: null,
  problem: { code, message },
});

const unreadable = (why: string): Read => ({
  continuation: null,
  call: null,
  problem: { code: null, message: `what the decider said is no continuation: ${why}` },
});

/** The last result with the decider's own output in its place, where it gave one that is not blank [R5]. */
export function synthesizeLast(
  results: readonly CapabilityResult[],
  continuation: Continuation | null,
): readonly CapabilityResult[] {
  const finalOutput = continuation?.done ? continuation.finalOutput : null;
  const last = results.at(-1);
  if (last === undefined || finalOutput === null || finalOutput.trim() === '') return results;
  return [...results.slice(0, -1), { ...last, output: finalOutput, synthesized: true }];
}
