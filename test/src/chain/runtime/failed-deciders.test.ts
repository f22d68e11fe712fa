import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineCapability } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const answer = defineCapability({
  name: 'answer',
  description: 'Computes the answer.',
  arguments: z.object({}),
  execute: () => '42',
});
const action = { ...replies.action, calls: [{ capability: 'answer', arguments: '{}' }] };

describe('[R7] the answer after a failed decider', () => {
  it.each([
    ['replies in prose', { text: 'I would rather talk.' }, 'The reply contains no valid JSON'],
    ['omits a field', { done: true }, 'does not match the schema of "continuation"'],
    [
      'refuses',
      { failure: { stage: 'refinement', code: 'refused', retryable: false, message: 'No.' } },
      'refused: No.',
    ],
  ] as const)('is degraded and says why if the model %s', async (_, continuation, why) => {
    const { run } = startScripted({ action, continuation }, { capabilities: [answer], continuation: 'model' });
    const { status, notes, metadata } = await run.answer;
    expect({ status, reason: metadata.reason }).toEqual({ status: 'degraded', reason: 'decider_failed' });
    expect(notes).toContain('Capabilities may be missing: the continuation decider failed: ');
    expect(notes).toContain(why);
    expect(run.actor.getSnapshot().context.results.action?.results).toMatchObject([{ output: '42', success: true }]);
  });

  it('is complete if a later Action succeeds', async () => {
    let asked = 0;
    const decider = () => {
      asked += 1;
      if (asked === 1) throw new Error('the rules are lost');
      return { done: true } as const;
    };
    const again = (call: number) =>
      call === 1 ? unsureAnswer(call, { needsTools: true, informationSufficiency: 1 }) : replies.yield;
    const { run } = startScripted({ action, yield: again }, { capabilities: [answer], continuation: decider });
    expect((await run.answer).status).toBe('completed');
    expect(asked).toBe(2);
  });
});
