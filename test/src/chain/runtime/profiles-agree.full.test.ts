import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage, sourceOf } from '../../../support/contract-samples.ts';
import { entriesOf, phasesOf, startScripted } from '../../../support/run-chain.ts';

const passage = aPassage({ text: 'The bridge was opened in 1932.', heading: [] });
const documents = sourceOf(passage);

/** What a brief reply without exceptions says of the phases before Yield. */
const USUAL = {
  action: { response: '', confidence: 0, calls: [] },
  experience: { summary: '', relevantPassageIds: ['p1'], missing: [], confidence: 0.9 },
  intention: { goal: '', alternatives: [], clarity: 1, unclearIntent: false, alignment: [] },
  observation: { insights: [], undigested: false, entities: [], connections: [], importance: [] },
  understanding: { integrated: '', assessments: [] },
};

const answers = fc.record({
  answer: fc.constantFrom('In 1932.', 'The bridge was opened in 1932.', 'In 1931.', 'Nobody knows.'),
  confidence: fc.constantFrom(0.2, 0.7, 0.95),
  informationSufficiency: fc.constantFrom(0.3, 0.8),
  taskComplete: fc.boolean(),
  proposedPhase: fc.constantFrom(null, 'nowhere', ...PHASES.filter((phase) => phase !== 'action')),
  usedMessageIds: fc.constantFrom([], ['p1']),
  noEvidence: fc.boolean(),
});

async function courseOf(
  profile: 'thorough' | 'balanced' | 'lean',
  scripted: readonly object[],
  withDocuments: boolean,
) {
  const plan = {
    ...USUAL,
    yield: (call: number) => ({ ...replies.yield, rationale: '', notes: '', ...scripted.at(call - 1) }),
  };
  const limits = { maxCycles: scripted.length };
  // A separate call for the final text would give it a status of its own.
  const { run } = startScripted(plan, {
    profile: { extends: profile, writing: 'if-needed' },
    limits,
    ...(withDocuments && { documents }),
  });
  const answer = await run.answer;
  const { assessment, messages } = run.ref.getSnapshot().context;
  return {
    phases: phasesOf(run),
    decisions: entriesOf(run, 'decision').map(({ decision }) => decision),
    status: answer.status,
    assessment,
    messages: messages.map(({ createdAtMs: _, ...message }) => message),
  };
}

describe('the profiles', () => {
  it('[C1] [Y2] [Y8] make the same decisions if the model gives the same answers and reports nothing unusual', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(answers, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        async (scripted, withDocuments) => {
          const thorough = await courseOf('thorough', scripted, withDocuments);
          expect(await courseOf('balanced', scripted, withDocuments)).toEqual(thorough);
          expect(await courseOf('lean', scripted, withDocuments)).toEqual(thorough);
        },
      ),
      { numRuns: 40 },
    );
  });
});
