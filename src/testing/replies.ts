import type { Replies } from '../../machines/contracts/phase-io.ts';

/** One valid reply per task. A run on these replies answers with high confidence in its first cycle. */
export const replies: Replies = {
  action: { response: 'It may be so.', confidence: 0.4, calls: [] },
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
    noEvidence: false,
  },
  brief: { answer: 'It is so.', used: [], confidence: 0.95, enough: 0.9, done: false, next: null, except: [] },
  continuation: { done: true, finalOutput: null, next: [] },
  summary: { summaries: [] },
  value: {},
  synthesis: { answerText: 'It is so, for certain.', confidence: 0.95, usedMessageIds: [], notes: '' },
};
