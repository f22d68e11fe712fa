import { describe, expect, it } from 'vitest';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { composeAnswer } from '../../../../machines/policies/synthesis/compose.ts';
import { brokenOutcome, fallbackOf, lateOutcome, outcomeOf } from '../../../../machines/policies/synthesis/outcome.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import { synthesisInputSample } from '../../../support/contract-cases.ts';
import { aMessage, anExecution, deepFreeze } from '../../../support/contract-samples.ts';
import { FORGED_FIELDS, INVALID_REPLIES } from '../../../support/synthesis-oracle.ts';

const run = { ...synthesisInputSample.run, interruption: null, failures: [] };
const good = deepFreeze({ ...structuredClone(synthesisInputSample), run });
const reply = {
  answerText: 'It was in 1932.',
  confidence: 0.6,
  usedMessageIds: [],
  usedStepIds: [],
  notes: 'Two papers.',
};
const usage = { modelCalls: 2, inputTokens: 300, outputTokens: 40, estimated: false, cost: 0.5 };
const execution = anExecution({ usage });
const said = (value: unknown) => composeAnswer(good, { type: 'written', prose: false, reply: value as never, usage });

describe('the four fallbacks for the final answer', () => {
  it.each([
    [
      'prompt',
      outcomeOf({ ok: false, failure: failureOf('unexpected', 'prompt_failed', 'it threw'), execution }),
      'because of its prompt: it threw.',
    ],
    [
      'prompt',
      outcomeOf({ ok: false, failure: failureOf('transport', 'prompt_too_long', 'long'), execution }),
      'because of its prompt: long.',
    ],
    [
      'model',
      outcomeOf({ ok: false, failure: failureOf('transport', 'rate_limited', 'busy'), execution }),
      'because its call failed: busy.',
    ],
    [
      'model',
      outcomeOf({ ok: false, failure: failureOf('deadline', 'total_deadline', 'late'), execution }),
      'because its call failed: late.',
    ],
    ['model', lateOutcome(usage), 'because its call failed: it timed out.'],
    [
      'validation',
      outcomeOf({ ok: false, failure: failureOf('schema', 'invalid_reply', 'no fit'), execution }),
      'because its reply was invalid: no fit.',
    ],
    [
      'validation',
      outcomeOf({ ok: true, prose: false, value: { answerText: ' ' }, execution }),
      'because its reply was invalid: answerText',
    ],
    ['other', brokenOutcome(new Error('it broke')), 'could not write the final answer: it broke.'],
    ['other', { type: 'lost' }, 'could not write the final answer: the outcome of the model call cannot be read.'],
  ])('[E4] %s: composes the answer and explains the failure in the notes', (fallback, outcome, says) => {
    const answer = finalAnswerSchema.parse(composeAnswer(good, outcome as never));
    expect(answer).toMatchObject({
      answerText: 'In 1932.',
      status: 'degraded',
      metadata: { reason: 'synthesis_failed', synthesis: { writtenBy: 'engine', fallback } },
    });
    expect(answer.notes).toContain(says);
    expect(answer.notes).toContain(answer.metadata.synthesis.error);
  });

  it.each([
    ['extraction', 'no_json', 'validation'],
    ['extraction', 'reply_too_long', 'validation'],
    ['refinement', 'broken_rule', 'validation'],
    ['transformation', 'transformation_failed', 'validation'],
    ['refinement', 'filtered', 'model'],
    ['unexpected', 'model_threw', 'model'],
    ['transport', 'unauthorized', 'model'],
    ['unexpected', 'unexpected', 'other'],
    ['unexpected', 'policy_failed', 'other'],
  ] as const)('[E4] maps a failure in %s (%s) to the fallback %s', (stage, code, wanted) => {
    expect(fallbackOf(failureOf(stage, code, 'x'))).toBe(wanted);
  });

  it.each(INVALID_REPLIES.map((misfit) => [misfit]))('[E4] rejects an invalid reply of any kind: %j', (misfit) => {
    for (const answer of [
      said(misfit),
      composeAnswer(good, outcomeOf({ ok: true, prose: false, value: misfit, execution })),
    ]) {
      expect(answer).toMatchObject({ answerText: 'In 1932.', metadata: { synthesis: { fallback: 'validation' } } });
      expect(answer.confidence).toBe(0.9);
      expect(answer.metadata.budget.synthesisReserveTokens.used).toBe(340);
    }
  });
});

describe('claims of the model about its own answer', () => {
  it('[E5] never change the flags', () => {
    const claims = { ...FORGED_FIELDS, answer: 'x', __proto__: { degraded: false } };
    const degraded = { ...good, ttlRemaining: 0, convergenceStatus: false, totalPasses: 'x' };
    const outcome = { type: 'written', prose: false, reply, usage } as const;
    const plain = composeAnswer(degraded, outcome);
    expect(composeAnswer(degraded, { ...outcome, reply: { ...reply, ...claims } })).toEqual(plain);
    expect(plain).toMatchObject({
      status: 'degraded',
      ttlExhausted: true,
      usedStepIds: ['s1'],
      sources: [],
      metadata: { degraded: true, reason: 'incomplete_state', synthesis: { writtenBy: 'model' } },
    });
  });

  it('[E5] count toward confidence only as far as retrieved texts support the answer', () => {
    const messages = [
      aMessage({ id: 'p1', role: 'search', content: 'The harbour bridge was opened on 19 March 1932.' }),
    ];
    const confidenceOf = (answerText: string, hasDocuments = true) =>
      composeAnswer(
        { ...good, request: 'When was the bridge opened?', run: { ...run, hasDocuments, messages } },
        { type: 'written', prose: false, reply: { ...reply, answerText, confidence: 0.95 }, usage },
      ).confidence;
    expect(confidenceOf('It was opened on 19 March 1932.')).toBe(0.95);
    expect(confidenceOf('Napoleon inaugurated it at Waterloo.')).toBe(0.5);
  });

  it('[Y14] count little if the answer says that nothing was found', () => {
    const confidenceOf = (noEvidence: boolean, answerText: string) =>
      composeAnswer(
        { ...good, run: { ...run, hasDocuments: false, noEvidence } },
        { type: 'written', prose: false, reply: { ...reply, answerText, confidence: 0.99 }, usage },
      ).confidence;
    expect(confidenceOf(true, 'It was in 1932.')).toBe(0.5);
    expect(confidenceOf(false, 'I could not find any information about that.')).toBe(0.5);
    expect(confidenceOf(false, 'It was in 1932.')).toBe(0.99);
  });

  it('[Y14] decide whether nothing was found: the report of Yield counts unless the cited texts support them', () => {
    const messages = [
      aMessage({ id: 'p1', role: 'search', content: 'The harbour bridge was opened on 19 March 1932.' }),
      aMessage({ id: 'p2', role: 'search', content: 'Nothing is known about the engineers.' }),
    ];
    const answerOf = (answerText: string, usedMessageIds: readonly string[], noEvidence = true) => {
      const written = { ...reply, answerText, usedMessageIds: [...usedMessageIds], confidence: 0.95 };
      const { metadata, confidence } = composeAnswer(
        { ...good, request: 'When was the bridge opened?', run: { ...run, hasDocuments: true, messages, noEvidence } },
        { type: 'written', prose: false, reply: written, usage },
      );
      return { reason: metadata.reason, confidence };
    };
    const opened = 'It was opened on 19 March 1932.';
    expect(answerOf(opened, ['p1'])).toEqual({ reason: null, confidence: 0.95 });
    expect(answerOf(opened, [])).toEqual({ reason: 'no_evidence', confidence: 0.5 });
    expect(answerOf(opened, ['p2'])).toEqual({ reason: 'no_evidence', confidence: 0.5 });
    expect(answerOf('Nothing was found.', ['p1'], false)).toEqual({ reason: 'no_evidence', confidence: 0.5 });
  });

  it('[E2] are limited to its text, its notes, and the messages it used, which are cited', () => {
    const source = { path: 'bridges.md', startLine: 3, endLine: 5 };
    const messages = [aMessage({ id: 'p1', source })];
    const used = { ...reply, usedMessageIds: ['p1', 'p1', 'nobody'] };
    const outcome = { type: 'written' as const, prose: false, reply: used, usage };
    expect(composeAnswer({ ...good, run: { ...run, messages } }, outcome)).toMatchObject({
      answerText: 'It was in 1932.',
      notes: 'Two papers.',
      sources: [{ ...source, messageId: 'p1' }],
      metadata: { synthesis: { writtenBy: 'model', fallback: null, error: null } },
    });
  });
});

describe('the reported cost', () => {
  const costOf = (changes: object, spent = usage) =>
    composeAnswer({ ...good, run: { ...run, ...changes } }, { type: 'composed', why: '', usage: spent }).metadata;

  it('[E2] is the usage of the run and of the synthesis, each with its own limit', () => {
    const { usage: all, budget, cost } = costOf({ elapsedMs: 1_500 });
    expect(all).toEqual({ modelCalls: 8, inputTokens: 1_100, outputTokens: 240, estimated: false, cost: 0.51 });
    expect(budget).toEqual({
      tokens: { limit: 1_000_000, used: 1_000, left: 999_000 },
      modelCalls: { limit: 100, used: 6, left: 94 },
      totalMs: { limit: 600_000, used: 1_500 },
      ttl: { limit: 5, used: 1, left: 4 },
      synthesisReserveTokens: { limit: 8_000, used: 340 },
    });
    expect(cost).toMatchObject({ amount: 0.51, currency: 'EUR' });
  });

  it('[E2] has nothing remaining when more than the limit was used', () => {
    const limits = { ...run.limits, maxTokens: 900, maxModelCalls: 5 };
    expect(costOf({ limits }).budget).toMatchObject({ tokens: { left: 0 }, modelCalls: { left: 0 } });
  });

  it('[E2] is unknown when a price or its currency is unknown', () => {
    expect(costOf({ currency: null }).cost).toBeNull();
    expect(costOf({ usage: { ...run.usage, cost: null } }).cost).toBeNull();
    expect(costOf({}, { ...NO_USAGE, cost: null as never }).cost).toBeNull();
  });

  it('[E2] has no limit when none is given; the cycle limit is completed plus remaining cycles', () => {
    const { run: _, ...alone } = good;
    expect(composeAnswer(alone, { type: 'composed', why: '', usage: NO_USAGE }).metadata).toMatchObject({
      budget: {
        tokens: { limit: null, used: 0, left: null },
        totalMs: { limit: null, used: null },
        ttl: { limit: 5, used: 1, left: 4 },
        synthesisReserveTokens: { limit: null, used: 0 },
      },
      cost: null,
    });
  });

  it('[E2] notes that the session could not be recalled without degrading the answer', () => {
    const { notes, status } = composeAnswer(
      { ...good, run: { ...run, sessionProblem: 'the store is shut.' } },
      { type: 'written', prose: false, reply, usage },
    );
    expect([notes, status]).toEqual([
      'Two papers. Part of the session was not recalled: the store is shut.',
      'completed',
    ]);
  });
});
