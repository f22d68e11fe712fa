import fc from 'fast-check';
import { PHASES, type Phase } from '../../../machines/contracts/phase.ts';
import { aCapabilityResult, aPassage } from '../contracts/samples.ts';
import { anyText, unit } from './context.arbitrary.ts';

/** Replies as a model may give them: valid by their schemas, with ids that are there and ids that are not. */

const says = fc.oneof({ weight: 5, arbitrary: anyText }, { weight: 1, arbitrary: fc.constantFrom('', '  ') });
const messageId = fc.constantFrom('request', 's1.m1', 's1.m2', 's2.m1', 's4.m1', 's6.m1', 'p1', 'p2', 'nobody');
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 4 });

export const passages = fc
  .subarray(['p1', 'p2', 'p3'])
  .chain((ids) =>
    fc.tuple(
      ...ids.map((id) => fc.record({ text: anyText, relevance: unit }).map((rest) => aPassage({ id, ...rest }))),
    ),
  );

export const replies: { readonly [P in Phase]: fc.Arbitrary<unknown> } = {
  action: fc.record({
    reply: fc.record({
      response: says,
      confidence: unit,
      call: fc.option(fc.record({ capability: fc.string(), arguments: fc.json() })),
    }),
    results: few(
      fc
        .record({ success: fc.boolean(), output: says })
        .map(({ success, output }) => aCapabilityResult({ success, output, error: success ? null : 'it broke' })),
    ),
    stopReason: fc.constantFrom('nothing_to_run', 'done', 'limit_reached', 'invalid_next_step'),
    memory: fc.constant([]),
  }),
  experience: fc.record({
    summary: says,
    relevantPassageIds: few(messageId),
    missing: few(says),
    confidence: unit,
  }),
  intention: fc.record({
    goal: says,
    alternatives: few(says),
    clarity: unit,
    unclearIntent: fc.boolean(),
    alignment: few(fc.record({ messageId, score: unit })),
  }),
  observation: fc.record({
    insights: few(says),
    undigested: fc.boolean(),
    entities: few(fc.record({ name: says, messageIds: few(messageId) })),
    connections: few(fc.record({ from: messageId, to: messageId, relation: says, strength: unit })),
    importance: few(fc.record({ messageId, score: unit })),
  }),
  understanding: fc.record({
    integrated: says,
    assessments: few(fc.record({ messageId, relevance: unit, reason: says })),
  }),
  yield: fc.record({
    answer: says,
    confidence: unit,
    taskComplete: fc.boolean(),
    informationSufficiency: unit,
    needsTools: fc.boolean(),
    proposedPhase: fc.option(fc.oneof(fc.constantFrom<string>(...PHASES), fc.string())),
    rationale: says,
    usedMessageIds: few(messageId),
  }),
};

export const synthesisReply = fc.record({
  answerText: anyText.map((text) => text.trim()),
  confidence: unit,
  usedMessageIds: few(messageId),
  notes: says,
});
