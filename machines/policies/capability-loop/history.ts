import type { ActionState } from '../../contracts/action-state.ts';
import type { CapabilityFailure, CapabilityResult, MemoryEntry } from '../../contracts/capability.ts';
import { clipped } from '../../text/clipped.ts';

/** Results that are kept whole; of what older ones gave, and were given, only a beginning: a long loop stays small. */
const KEPT_WHOLE = 16;
const KEPT_CHARS = 500;

/** The loop with one more result. */
export function appendResult(
  { results, runs }: ActionState,
  result: CapabilityResult,
): Pick<ActionState, 'results' | 'runs'> {
  const past = results.length - KEPT_WHOLE;
  const shortened = past < 0 ? results : results.with(past, shorten(results[past] as CapabilityResult));
  return { results: [...shortened, result], runs: runs + 1 };
}

function shorten(result: CapabilityResult): CapabilityResult {
  const isSmall = JSON.stringify(result.arguments).length <= KEPT_CHARS;
  return {
    ...result,
    arguments: isSmall ? result.arguments : {},
    output: clipped(result.output, KEPT_CHARS),
    error: result.error === null ? null : clipped(result.error, KEPT_CHARS),
  };
}

/** The session's memory with the last run in it [R4]: with the first one comes the user's message. */
export function appendMemory({ memory, input, results }: ActionState): readonly MemoryEntry[] {
  const last = results.at(-1);
  if (last === undefined) return memory;
  const begun: readonly MemoryEntry[] = memory.length > 0 ? memory : [{ role: 'user', content: input.request }];
  const { capability, success, output, error } = last;
  const summary = clipped(success ? output : (error ?? ''), KEPT_CHARS);
  return [...begun, { role: 'assistant', capability, success, summary }];
}

/** A run that came to nothing: late, thrown by its port, or refused before it began [R5, R7]. */
export function failedResult(
  { call, checked, sessionId }: ActionState,
  code: CapabilityFailure,
  error: string,
  durationMs: number,
): CapabilityResult {
  const capability = call?.capability ?? '';
  const base = { capability, arguments: checked, success: false, output: '', synthesized: false, startedAtMs: null };
  return { ...base, code, error, sessionId, durationMs };
}
