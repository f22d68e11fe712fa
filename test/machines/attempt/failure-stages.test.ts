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
