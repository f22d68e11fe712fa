import { describe, expect, it } from 'vitest';
import { finalAnswerSchema, type SynthesisReply } from '../../../../machines/contracts/synthesis.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import type { AnswerBasis } from '../../../../machines/policies/synthesis/basis.ts';
import {
  composeAnswer,
  failedSynthesis,
  lateOutcome,
  outcomeOf,
} from '../../../../machines/policies/synthesis/compose.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import { aBasis } from '../../../support/answer-basis.ts';
import { aMessage, anExecution, deepFreeze } from '../../../support/contract-samples.ts';

const good = deepFreeze(aBasis());
const reply: SynthesisReply = {
  answerText: 'It was in 1932.',
  confidence: 0.6,
  usedMessageIds: [],
  usedStepIds: [],
  notes: 'Two papers.',
};
const usage = { modelCalls: 2, inputTokens: 300, outputTokens: 40, estimated: false, cost: 0.5 };
const execution = anExecution({ usage });
const failing = (...failure: Parameters<typeof failureOf>) =>
  outcomeOf({ ok: false, failure: failureOf(...failure), execution });
const replying = (value: unknown) => outcomeOf({ ok: true, prose: false, value, execution });
const written = (changes: Partial<SynthesisReply>, basis: AnswerBasis = good) =>
  composeAnswer(basis, { type: 'written', prose: false, reply: { ...reply, ...changes }, usage });

describe('the four fallbacks for the final answer', () => {
  it.each([
    ['prompt', failing('unexpected', 'prompt_failed', 'it threw'), 'because of its prompt: it threw.'],
    ['prompt', failing('transport', 'prompt_too_long', 'long'), 'because of its prompt: long.'],
    ['model', failing('transport', 'rate_limited', 'busy'), 'because its call failed: busy.'],
    ['model', failing('deadline', 'total_deadline', 'late'), 'because its call failed: late.'],
    ['model', lateOutcome(usage), 'because its call failed: it timed out.'],
    ['validation', failing('schema', 'invalid_reply', 'no fit'), 'because its reply was invalid: no fit.'],
    ['validation', replying({ answerText: ' ' }), 'because its reply was invalid: answerText'],
    ['other', failedSynthesis(new Error('it broke')), 'could not write the final answer: it broke.'],
  ])('[E4] %s: composes the answer and explains the failure in the notes', (fallback, outcome, says) => {
    const answer = finalAnswerSchema.parse(composeAnswer(good, outcome));
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
    expect(failing(stage, code, 'x')).toMatchObject({ fallback: wanted });
  });
});

describe('claims of the model about its own answer', () => {
  const bridge = aMessage({ id: 'p1', role: 'search', content: 'The harbour bridge was opened on 19 March 1932.' });
  const request = 'When was the bridge opened?';

  it('[Y14] count little if the answer says that nothing was found', () => {
    const confidenceOf = (noEvidence: boolean, answerText: string) =>
      written({ answerText, confidence: 0.99 }, aBasis({ hasDocuments: false, noEvidence })).confidence;
    expect(confidenceOf(true, 'It was in 1932.')).toBe(0.5);
    expect(confidenceOf(false, 'I could not find any information about that.')).toBe(0.5);
    expect(confidenceOf(false, 'It was in 1932.')).toBe(0.99);
  });

  it('[Y14] decide whether nothing was found: the report of Yield counts unless the cited texts support them', () => {
    const messages = [bridge, aMessage({ id: 'p2', role: 'search', content: 'Nothing is known about the engineers.' })];
    const answerOf = (answerText: string, usedMessageIds: string[], noEvidence = true) => {
      const basis = aBasis({ noEvidence }, { request, messages });
      const { metadata, confidence } = written({ answerText, usedMessageIds, confidence: 0.95 }, basis);
      return { reason: metadata.reason, confidence };
    };
    const opened = 'It was opened on 19 March 1932.';
    expect(answerOf(opened, ['p1'])).toEqual({ reason: null, confidence: 0.95 });
    expect(answerOf(opened, [])).toEqual({ reason: 'no_evidence', confidence: 0.5 });
    expect(answerOf(opened, ['p2'])).toEqual({ reason: 'no_evidence', confidence: 0.5 });
    expect(answerOf('Nothing was found.', ['p1'], false)).toEqual({ reason: 'no_evidence', confidence: 0.5 });
  });
});

describe('the reported cost', () => {
  const costOf = (changes: Partial<AnswerBasis>, spent = usage) =>
    composeAnswer(aBasis(changes), { type: 'composed', why: '', usage: spent }).metadata;

  it('[E2] is the usage of the run and of the synthesis, each with its own limit', () => {
    const { usage: all, budget, cost } = costOf({});
    expect(all).toEqual({ modelCalls: 8, inputTokens: 1_100, outputTokens: 240, estimated: false, cost: 0.51 });
    expect(budget).toEqual({
      tokens: { limit: 1_000_000, used: 1_000, left: 999_000 },
      modelCalls: { limit: 100, used: 6, left: 94 },
      cost: { limit: null, used: 0.51, left: null },
      totalMs: { limit: 600_000, used: 1_500 },
      ttl: { limit: 5, used: 1, left: 4 },
      synthesisReserveTokens: { limit: 8_000, used: 340 },
    });
    expect(cost).toMatchObject({ amount: 0.51, currency: 'EUR' });
  });

  it('[E2] has nothing remaining when more than the limit was used', () => {
    const limits = { ...good.limits, maxTokens: 900, maxModelCalls: 5, maxCost: 0.5 };
    expect(costOf({ limits }).budget).toMatchObject({
      tokens: { left: 0 },
      modelCalls: { left: 0 },
      cost: { limit: 0.5, used: 0.51, left: 0 },
    });
  });

  it('[E2] is unknown when a price or its currency is unknown', () => {
    expect(costOf({ currency: null }).cost).toBeNull();
    expect(costOf({ usage: { ...good.usage, cost: null } }).cost).toBeNull();
    expect(costOf({}, { ...NO_USAGE, cost: null as never }).cost).toBeNull();
  });

  it('[E2] notes that the session could not be recalled without degrading the answer', () => {
    expect(written({}, aBasis({ sessionProblem: 'the store is shut.' }))).toMatchObject({
      notes: 'Two papers. Part of the session was not recalled: the store is shut.',
      status: 'completed',
    });
  });
});
