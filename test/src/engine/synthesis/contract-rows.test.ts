import { describe, expect, it } from 'vitest';
import { finalAnswerSchema, synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';

import { readSynthesisInput } from '../../../../machines/policies/synthesis/read-input.ts';
import { prompts } from '../../../../src/engine/prompts/registry.ts';
import { synthesizeAnswer } from '../../../../src/engine/synthesize-answer.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { deepFreeze } from '../../../machines/policies/deep-freeze.ts';
import { startScripted } from '../../../support/run-chain.ts';

/** The contract's own degraded example, and a complete one. */
const complete = deepFreeze({
  request: 'Complex task',
  executionResults: [{ stepId: 's1', phase: 'work', content: 'Half of it is done.' }],
  planState: { goal: null, alternatives: [] },
  convergenceAssessment: { change: null, confidence: 0.4, rationale: 'half of the steps are done' },
  correlationId: 'abc123',
  executionStartTimestamp: '2025-01-27T10:00:00Z',
  convergenceStatus: true,
  totalPasses: 3,
  totalRefinements: 1,
  ttlRemaining: 5000,
});
const reply = { answerText: 'Half of it is done.', confidence: 0.4, usedMessageIds: [], notes: 'The rest waits.' };
const says = (entry: object) => scriptedModel(() => entry as never);
const given = (changes: object, entry: object = reply) =>
  synthesizeAnswer({ ...complete, ...changes }, { model: says(entry) });

const ROWS: readonly [id: string, what: string, check: () => unknown][] = [
  [
    '[E1]',
    'its input is validated, and a bad field is named',
    () => {
      const fields = [
        'request',
        'executionResults',
        'planState',
        'convergenceAssessment',
        'executionPasses',
        'semanticValidation',
        'taskProfile',
        'correlationId',
        'executionStartTimestamp',
        'convergenceStatus',
        'totalPasses',
        'totalRefinements',
        'ttlRemaining',
      ];
      expect(Object.keys(synthesisInputSchema.shape)).toEqual([...fields, 'run']);
      for (const field of fields)
        expect(readSynthesisInput({ ...complete, [field]: 5.5 }).problems.map((problem) => problem.field)).toEqual([
          field,
        ]);
    },
  ],
  [
    '[E2]',
    'its output has a text, a confidence, the steps, notes, TTL and metadata',
    async () => {
      const answer = finalAnswerSchema.parse(await given({}));
      expect(answer).toMatchObject({
        ...{ answerText: reply.answerText, confidence: 0.4 },
        usedStepIds: ['s1'],
        notes: 'The rest waits.',
        ttlExhausted: false,
      });
      expect(answer.metadata.degraded).toBe(false);
    },
  ],
  [
    '[E3]',
    'there is an answer whatever is the matter: TTL, no convergence, no results, no passes, errors',
    async () => {
      for (const changes of [
        { ttlRemaining: 0 },
        { convergenceStatus: false },
        { executionResults: [] },
        { totalPasses: 0 },
      ])
        for (const entry of [reply, { text: '' }, { failure: { retryable: false } }]) {
          const answer = finalAnswerSchema.parse(await given(changes, entry));
          expect(answer.answerText.trim()).not.toBe('');
          expect(answer.status).toBe('degraded');
        }
    },
  ],
  [
    '[E4]',
    'a reply that does not validate gives a degraded answer from what there is, with the error',
    async () => {
      const { answerText, notes, metadata } = await given({}, { ...reply, confidence: 7 });
      expect(answerText).toBe('Half of it is done.');
      expect(metadata).toMatchObject({ degraded: true, synthesis: { writtenBy: 'engine', fallback: 'validation' } });
      expect(notes).toContain(metadata.synthesis.error);
    },
  ],
  [
    '[E5]',
    'incomplete state > TTL > zero passes > not converged, and no model overwrites it',
    async () => {
      const claims = { ...reply, ttlExhausted: false, metadata: { degraded: false }, status: 'completed' };
      const all = { totalRefinements: null, ttlRemaining: 0, totalPasses: 0, convergenceStatus: false };
      const { totalRefinements: _, ...three } = all;
      const reasonOf = async (changes: object) => (await given(changes, claims)).metadata.reason;
      expect(await reasonOf(all)).toBe('incomplete_state');
      expect(await reasonOf(three)).toBe('ttl_exhausted');
      expect(await reasonOf({ ...three, ttlRemaining: 1 })).toBe('zero_passes');
      expect(await reasonOf({ convergenceStatus: false })).toBe('not_converged');
      expect(await given(all, claims)).toMatchObject({
        ttlExhausted: true,
        status: 'degraded',
        metadata: { missingFields: ['totalRefinements'] },
      });
    },
  ],
  [
    '[E6]',
    'it reads only',
    async () => {
      const input = deepFreeze(structuredClone(complete));
      await synthesizeAnswer(input, { model: says(reply) });
      expect(input).toEqual(complete);
    },
  ],
  [
    '[E7]',
    'it runs where the loop is left, and the answer is attached to the run',
    async () => {
      const { run } = startScripted();
      const answer = await run.answer;
      expect(run.actor.getSnapshot().output).toBe(answer);
      expect(run.journal.filter(({ type }) => type === 'answer')).toHaveLength(1);
    },
  ],
  [
    '[E8]',
    'its prompt is one of the registry, with its input and its output typed',
    async () => {
      const model = says(reply);
      await synthesizeAnswer(complete, { model });
      const request = model.calls[0];
      expect(prompts.synthesis.input.safeParse(request?.input).success).toBe(true);
      expect(prompts.synthesis.output.safeParse(reply).success).toBe(true);
      expect(request?.turns[0]?.content).toContain(prompts.synthesis.system(request?.input as never));
    },
  ],
  [
    '[E9]',
    'a reserve is kept for it; at zero it is composed without a model',
    async () => {
      const model = says(reply);
      const answer = await synthesizeAnswer(complete, { model, limits: { synthesisReserveTokens: 0 } });
      expect(model.calls).toEqual([]);
      expect(answer).toMatchObject({
        answerText: 'Half of it is done.',
        confidence: 0.4,
        metadata: { synthesis: { writtenBy: 'engine' } },
      });
    },
  ],
  [
    '[E10]',
    'it gives data: what is JSON, and nothing for the eye',
    async () => {
      const answer = await given({});
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
      expect(answer.answerText).toBe(reply.answerText);
    },
  ],
];

describe('the contract of synthesis', () => {
  it.each(ROWS)('%s %s', async (_, __, check) => {
    await check();
  });
});
