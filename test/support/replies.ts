import type { Task } from '../../machines/contracts/phase.ts';

/** A valid reply of each task: a run that is answered with confidence in its first cycle. */
export const replies = {
  action: { response: 'It may be so.', confidence: 0.4, call: null },
  experience: { summary: 'The papers say so.', relevantPassageIds: [], missing: [], confidence: 0.7 },
  intention: { goal: 'To know', alternatives: [], clarity: 0.9, unclearIntent: false, alignment: [] },
  observation: { insights: ['It is so'], undigested: false, entities: [], connections: [], importance: [] },
  understanding: { integrated: 'It is so, they say.', assessments: [] },
  yield: {
    answer: 'It is so.',
    confidence: 0.95,
    taskComplete: false,
    informationSufficiency: 0.9,
    needsTools: false,
    proposedPhase: null,
    rationale: 'clear',
    usedMessageIds: [],
  },
  synthesis: { answerText: 'It is so, for certain.', confidence: 0.95, usedMessageIds: [], notes: '' },
} satisfies Record<Task, Record<string, unknown>>;

type Changes = { readonly [T in Task]?: Partial<(typeof replies)[T]> | Record<string, unknown> };

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
