import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import type { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import type { DeepPartial } from '../../../../src/llm/attempts/updates.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { chunkedReply, partModel } from '../../../support/scripted-models.ts';
import { invalidRecipe, pancakes, Recipe, readUpdates, recipeFrom } from '../../../support/structured-outputs.ts';

describe('a request', () => {
  it('uses a valid tool name for the schema and counts the schema if it is sent beside the turns', async () => {
    const model = partModel(chunkedReply(pancakes));
    const name = `my recipe: ${'x'.repeat(80)}`;
    for (const replyForm of ['text', 'tool-call'] as const)
      await createStructuredOutput({ model, schema: Recipe, prompt: 'How?', name, replyForm }).value.catch(() => {});
    for (const { schemaName } of model.calls) expect(schemaName).toMatch(/^my_recipe__x{53}$/);
    const tiny = { ...partModel(chunkedReply(pancakes)), contextWindowTokens: 60 };
    const { failure } = (await createStructuredOutput({
      model: tiny,
      schema: Recipe,
      prompt: 'How?',
      replyForm: 'tool-call',
    }).value.catch((met: unknown) => met)) as AttemptsExhausted;
    expect(failure.code).toBe('prompt_too_long');
  });
});

describe('the output handle', () => {
  it('can be spread, logged, and serialized without calling a model', async () => {
    const { model, output } = recipeFrom([chunkedReply(pancakes)]);
    expect({ ...output }).not.toHaveProperty('value');
    expect(JSON.parse(JSON.stringify(output))).toEqual({ execution: output.execution });
    inspect(output, { showHidden: true, getters: false });
    await settle(3);
    expect(model.calls).toHaveLength(0);
    const { cancel } = output;
    cancel();
    await expect(output.value).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('types enum strings as such while they stream', () => {
    type Mood = DeepPartial<{ mood: 'cheerful' | 'gloomy'; scores: number[]; of: { yes: boolean } | null }>;
    expectTypeOf<Mood>().toEqualTypeOf<{
      readonly mood?: string;
      readonly scores?: readonly number[];
      readonly of?: { readonly yes?: boolean } | null;
    }>();
  });

  it('fails with the stack of its caller and without a cause if there is none', async () => {
    const { output } = recipeFrom([chunkedReply(invalidRecipe, 50)]);
    const error = await output.value.catch((met: unknown) => met as Error);
    expect((error as Error).stack).toMatch(
      /^AttemptsExhausted: No value for "output"[^\n]*\n\s+at recipeFrom .*structured-outputs\.ts/,
    );
    expect(error).not.toHaveProperty('cause');
  });

  it('yields partials of a union that a model did not wrap', async () => {
    const schema = z.discriminatedUnion('is', [
      z.object({ is: z.literal('a'), a: z.string() }),
      z.object({ is: z.literal('b'), b: z.int() }),
    ]);
    for (const reply of [{ is: 'a', a: 'long enough' }, { value: { is: 'a', a: 'long enough' } }]) {
      const output = createStructuredOutput({ model: partModel(chunkedReply(reply)), schema, prompt: 'Which?' });
      const updates = await readUpdates(output);
      expect(updates.length).toBeGreaterThan(3);
      expect(updates.at(-2)).toMatchObject({ type: 'partial', value: { is: 'a', a: 'long enough' } });
      expect(updates.at(-1)).toMatchObject({ type: 'value', value: { is: 'a', a: 'long enough' } });
    }
  });

  it('yields values that are not objects: a string, a number, a boolean, null', async () => {
    for (const [schema, value] of [
      [z.string(), 'hi'],
      [z.int(), 7],
      [z.boolean(), false],
      [z.null(), null],
      [z.enum(['a', 'b']), 'b'],
    ] as const)
      for (const replyForm of ['text', 'tool-call'] as const) {
        const model = scriptedModel({ output: [{ reply: value }] });
        expect(await createStructuredOutput({ model, schema, prompt: 'What?', replyForm }).value).toBe(value);
      }
  });

  it('reports what is wrong with a model that returns no stream', async () => {
    const model = { id: 'mine', contextWindowTokens: 1_000, stream: async () => 'x' } as never;
    const { failure } = (await createStructuredOutput({ model, schema: Recipe, prompt: 'How?' }).value.catch(
      (met: unknown) => met,
    )) as AttemptsExhausted;
    expect(failure).toMatchObject({ code: 'model_threw', message: expect.stringContaining('async *stream') });
  });
});
