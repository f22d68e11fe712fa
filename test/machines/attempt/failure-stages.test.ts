import { describe, expect, it, test } from 'vitest';
import { createActor, toPromise } from 'xstate';
import * as z from 'zod';
import type { ReadReplyInput } from '../../../machines/attempt/actors.ts';
import type { ReplyEvent } from '../../../machines/contracts/attempt.ts';
import { intentionReplySchema } from '../../../machines/contracts/phase-io.ts';
import { promptSpec } from '../../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../../src/chain/prompts/registry.ts';
import { createValidator } from '../../../src/llm/attempts/provide-attempt.ts';
import { replies } from '../../../src/testing/replies.ts';

/** Returns the result of the built-in validator for a value and this schema. */
async function validate(output: z.ZodType, value: unknown) {
  const { validateReply } = createValidator(() => promptSpec({ ...prompts.intention, output }));
  return toPromise(createActor(validateReply, { input: { task: 'intention', input: {}, value } }).start());
}

const goal = z.object({ goal: z.string(), score: z.number() });

describe('validating a complete reply', () => {
  test('returns the value parsed by the schema for a valid reply', async () => {
    const schema = z.object({ ...intentionReplySchema.shape, score: z.number().default(1) });
    const value = { ...replies.intention, more: 1 };
    expect(await validate(schema, value)).toEqual({ ok: true, value: { ...replies.intention, score: 1 } });
  });

  test('rejects a reply that matches only the user-supplied schema, because the chain reads its own fields', async () => {
    const said = await validate(goal, { goal: 'x', score: 1 });
    expect(said).toMatchObject({ ok: false, failure: { stage: 'schema' } });
    expect(said.ok === false && said.failure.issues.map(({ path }) => path)).toContain('clarity');
  });

  test('[A10] classifies a wrong shape as a schema failure and lists each path', async () => {
    const said = await validate(z.object({ of: z.array(goal) }), { of: [{ goal: 1, score: 1 }, { goal: 'x' }] });
    expect(said).toMatchObject({ ok: false, failure: { stage: 'schema', code: 'invalid_reply', retryable: true } });
    expect(said.ok === false && said.failure.issues.map(({ path }) => path)).toEqual(['of.0.goal', 'of.1.score']);
    expect(said.ok === false && said.failure.message).toMatch(/2 places/);
  });

  test('[A10] classifies a broken rule as a refinement failure', async () => {
    const positive = goal.refine(({ score }) => score > 0, { path: ['score'], message: 'must be above 0' });
    expect(await validate(positive, { goal: 'x', score: -1 })).toMatchObject({
      ok: false,
      failure: { stage: 'refinement', issues: [{ path: 'score', message: 'must be above 0' }] },
    });
  });

  test('[A10] classifies a broken rule with a wrong shape as a schema failure', async () => {
    const both = z.object({ goal: z.string().refine((text) => text !== 'x'), score: z.number() });
    expect(await validate(both, { goal: 'x', score: '1' })).toMatchObject({ failure: { stage: 'schema' } });
  });

  it('[A10] classifies a transform that throws as a transformation failure that may be corrected', async () => {
    const schema = goal.transform(() => {
      throw new Error('no such goal');
    });
    const said = await validate(schema, { goal: 'x', score: 1 });
    expect(said).toMatchObject({ ok: false, failure: { stage: 'transformation', retryable: true } });
  });

  it('gives equal replies to different tasks the verdicts of their own asynchronous schemas', async () => {
    const specOf = (isValid: boolean) =>
      promptSpec({ ...prompts.intention, output: z.object(intentionReplySchema.shape).refine(async () => isValid) });
    const specs = { intention: specOf(true), other: specOf(false) };
    const { validateReply, withValidation } = createValidator(({ task }) => specs[task as keyof typeof specs]);
    const reply = { failure: null, value: replies.intention };
    for (const task of Object.keys(specs))
      withValidation(
        { type: 'reply.ended', reply } as ReplyEvent,
        { task, input: {} } as ReadReplyInput,
        null as never,
      );
    const input = { task: 'intention', input: {}, value: replies.intention };
    expect(await toPromise(createActor(validateReply, { input }).start())).toMatchObject({ ok: true });
  });
});
