import type { Task } from '../../machines/contracts/phase.ts';
import { replies } from '../../src/testing/replies.ts';

type Changes = { readonly [T in Task]?: Record<string, unknown> };

/** The valid replies with some fields changed. */
export function repliesWith(changes: Changes): Record<Task, Record<string, unknown>> {
  const made: Record<string, Record<string, unknown>> = {};
  for (const [task, reply] of Object.entries(replies)) made[task] = { ...reply, ...changes[task as Task] };
  return made as Record<Task, Record<string, unknown>>;
}

/** An answer that no rule completes a run by: unsure, new words each time. */
export function unsureAnswer(call: number, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].map((word) => `${word}${call}`).join(' ');
  return { ...replies.yield, answer: words, confidence: 0.5, ...changes };
}
