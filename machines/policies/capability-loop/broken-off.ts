import type { ActionState } from '../../contracts/action-state.ts';
import type { ActionResult } from '../../contracts/phases/action.ts';
import { appendMemory, appendResult, failedResult } from './history.ts';

/** A loop that somebody broke off, as it ends: the capability that was running is a failed result, and says why. */
export function breakOff(loop: ActionState, cause: string): ActionState {
  const ended = loop.begun > loop.runs ? withLostRun(loop, cause) : loop;
  return { ...ended, stopReason: 'broken_off' };
}

function withLostRun(loop: ActionState, cause: string): ActionState {
  const lost = { ...loop, ...appendResult(loop, failedResult(loop, 'broken_off', `it was broken off: ${cause}`, 0)) };
  return { ...lost, memory: appendMemory(lost) };
}

/** What a loop comes to, as Action's result without its `phase` and `step`. */
export function loopResult({ reply, results, stopReason, memory }: ActionState): Omit<ActionResult, 'phase' | 'step'> {
  return { reply: reply ?? NO_REPLY, results, stopReason, memory };
}

/** Where the first step was given, nobody was asked for words. */
const NO_REPLY: ActionResult['reply'] = { response: '', confidence: 0, call: null };
