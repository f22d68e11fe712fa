import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { finalAnswerSchema, synthesisInputSchema } from '../../../../machines/contracts/synthesis.ts';

import { readSynthesisInput } from '../../../../machines/policies/synthesis/read-input.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { synthesizeAnswer } from '../../../../src/chain/synthesize-answer.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { deepFreeze } from '../../../support/contract-samples.ts';
import { startScripted } from '../../../support/run-chain.ts';

/** The degraded example of the contract, and a complete one. */
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
    'input is validated, and an invalid field is named',
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
    'output has text, confidence, steps, notes, TTL, and metadata',
    async () => {
      const answer = finalAnswerSchema.parse(await given({}));
      expect(answer).toMatchObject({
        answerText: reply.answerText,
        confidence: 0.4,
        usedStepIds: ['s1'],
        notes: 'The rest waits.',
        ttlExhausted: false,
      });
      expect(answer.metadata.degraded).toBe(false);
    },
  ],
  [
    '[E3]',
    'always answers: TTL, no convergence, no results, no passes, errors',
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
    'an invalid reply yields a degraded answer from existing results with the error',
    async () => {
      const { answerText, notes, metadata } = await given({}, { ...reply, confidence: 7 });
      expect(answerText).toBe('Half of it is done.');
      expect(metadata).toMatchObject({ degraded: true, synthesis: { writtenBy: 'engine', fallback: 'validation' } });
      expect(notes).toContain(metadata.synthesis.error);
    },
  ],
  [
    '[E5]',
    'incomplete state > TTL > zero passes > not converged, regardless of the model',
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
    'does not mutate its input',
    async () => {
      const input = deepFreeze(structuredClone(complete));
      await synthesizeAnswer(input, { model: says(reply) });
      expect(input).toEqual(complete);
    },
  ],
  [
    '[E7]',
    'runs after the loop, and its answer is attached to the run',
    async () => {
      const { run } = startScripted();
      const answer = await run.answer;
      expect(run.actor.getSnapshot().output).toBe(answer);
      expect(run.journal.filter(({ type }) => type === 'answer')).toHaveLength(1);
    },
  ],
  [
    '[E8]',
    'its prompt is in the registry with typed input and output',
    async () => {
      const model = says(reply);
      await synthesizeAnswer(complete, { model });
      const request = model.calls[0];
      expect(z.safeParse(prompts.synthesis.input, request?.input).success).toBe(true);
      expect(z.safeParse(prompts.synthesis.output, reply).success).toBe(true);
      expect(request?.turns[0]?.content).toContain(prompts.synthesis.system(request?.input as never));
    },
  ],
  [
    '[E9]',
    'tokens are reserved for it; with no reserve the answer is composed without a model',
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
    'returns plain JSON data without presentation',
    async () => {
      const answer = await given({});
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
      expect(answer.answerText).toBe(reply.answerText);
    },
  ],
];

describe('the synthesis contract', () => {
  it.each(ROWS)('%s %s', async (_, __, check) => {
    await check();
  });
});
