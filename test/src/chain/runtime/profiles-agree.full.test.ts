import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROFILES } from '../../../../machines/contracts/profile.ts';
import { type Conversation, conversationArbitrary, runConversation } from '../../../support/conversations.ts';
import { entriesOf, phasesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

type Ended = Awaited<ReturnType<typeof runConversation>>;

const ownOrShared = fc.constantFrom('own' as const, 'shared' as const);
const settings = fc.record({
  extends: fc.constantFrom('thorough' as const, 'balanced' as const, 'lean' as const),
  experience: ownOrShared,
  intention: ownOrShared,
  observation: ownOrShared,
  understanding: ownOrShared,
  writing: fc.constantFrom('always' as const, 'if-needed' as const),
  earlyCalls: fc.boolean(),
});
const profiles = fc.oneof(fc.constantFrom('balanced' as const, 'lean' as const), settings);

/** They depend on the text, and so on whether a call of its own wrote it. */
const REASONS_OF_TEXT: ReadonlySet<string> = new Set(['no_evidence', 'contradicted', 'not_grounded', 'low_confidence']);

/** What the chart did until it left its phases. The clock differs: a call that starts early, or is retried, moves it. */
function courseOf({ run, answer }: Ended) {
  const { assessment, results, interruption, messages, failures } = run.actor.getSnapshot().context;
  return {
    phases: phasesOf(run),
    decisions: entriesOf(run, 'decision').map(({ decision }) => decision),
    cycles: answer.metadata.cycles,
    reasons: answer.reasons.filter(({ code }) => !REASONS_OF_TEXT.has(code)),
    interruption,
    assessment,
    replies: Object.values(results).map((result) => result?.reply),
    messages: messages.map(({ createdAtMs: _, ...message }) => message),
    failures,
  };
}

/** The answer, with what surrounds it unless no call of its own wrote it. */
function answerOf(ended: Ended): object {
  const { answerText, confidence, notes, sources, usedStepIds, ttlExhausted, reasons, metadata } = ended.answer;
  if (isAnswerOfYield(ended)) return { answerText, confidence };
  const { missingFields, synthesis } = metadata;
  return { answerText, confidence, notes, sources, usedStepIds, ttlExhausted, reasons, missingFields, synthesis };
}

/** The answer that Yield gave last. */
function assessedAnswerOf({ run }: Ended): object {
  const { assessment } = run.actor.getSnapshot().context;
  return { answerText: assessment?.answer, confidence: assessment?.confidence };
}

const isAnswerOfYield = ({ model, answer }: Ended): boolean =>
  answer.metadata.synthesis.writtenBy === 'model' && model.calls.every(({ task }) => task !== 'synthesis');

/**
 * Profiles may differ in these ways, so the scripts leave them out:
 * - Budgets: within the same number of calls, tokens or milliseconds, fewer calls get further. No run reaches a limit but that of cycles.
 * - Failures: a phase whose part of a shared call is invalid, or whose early call has failed, still makes a call of its own, so it has one
 *   attempt more. A reply therefore fails at most twice, which one attempt corrects, or every time.
 * - Size: the prompt of a shared call is longer. All prompts fit into the context window.
 * - The final answer: if no call of its own writes it, it is that of Yield.
 */
describe('the profiles', () => {
  it('[C1] [Y2] [Y8] make the same decisions and the same answer if the model gives each phase the same replies', async () => {
    await fc.assert(
      fc.asyncProperty(conversationArbitrary, profiles, async (conversation, drawn) => {
        const isNamed = typeof drawn === 'string';
        const profile = isNamed && conversation.documents === 'none' ? askingWithoutDocuments(drawn) : drawn;
        const thorough = await runConversation(conversation, 'thorough');
        const other = await runConversation(conversation, profile);
        expect(courseOf(other)).toEqual(courseOf(thorough));
        expect(answerOf(other)).toEqual(isAnswerOfYield(other) ? assessedAnswerOf(thorough) : answerOf(thorough));
      }),
      { numRuns: 25 },
    );
  });

  it('make the same decisions without documents if the model has nothing to say in Experience', async () => {
    await fc.assert(
      fc.asyncProperty(conversationArbitrary, fc.constantFrom('balanced', 'lean'), async (conversation, name) => {
        const silent = withSilentExperience(conversation);
        const { replies: _, ...thorough } = courseOf(await runConversation(silent, 'thorough'));
        expect(courseOf(await runConversation(silent, name))).toMatchObject(thorough);
      }),
      { numRuns: 8 },
    );
  });

  it('may differ without documents otherwise: in thorough, the summary of Experience is one more message', async () => {
    const plan = { yield: (call: number) => unsureAnswer(call, { needsTools: call === 1 }) };
    const options = { thresholds: { crowdedMessages: 8 }, limits: { maxCycles: 4 } };
    const nextPhases = async (profile: 'thorough' | 'balanced') => {
      const { run } = startScripted(plan, { ...options, profile });
      await run.answer;
      return entriesOf(run, 'decision').map(({ decision }) => decision.nextPhase);
    };
    expect(await nextPhases('thorough')).toEqual(['action', 'action', 'understanding', null]);
    expect(await nextPhases('balanced')).toEqual(['action', 'action', 'action', null]);
  });
});

/** Without documents, Experience asks the model in `thorough` only, unless the settings say otherwise. */
function askingWithoutDocuments(name: 'balanced' | 'lean') {
  return { extends: name, experience: PROFILES[name].experience };
}

/** Returns the conversation without documents and with an empty summary of Experience, which adds no message. */
function withSilentExperience(conversation: Conversation): Conversation {
  const { scripts } = conversation;
  const experience = scripts.experience.map(({ before, reply }) => ({
    before,
    reply: { ...reply, summary: '' },
    form: 'reply' as const,
  }));
  return { ...conversation, documents: 'none', scripts: { ...scripts, experience } };
}
