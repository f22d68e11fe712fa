import { inspect } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { attemptExecutionSchema } from '../../../../machines/contracts/attempt.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import type { DeepPartial } from '../../../../src/llm/attempts/updates.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { anError } from '../../../support/errors.ts';
import { type CallScript, chunkedReply, neverSettles, partModel, textPart } from '../../../support/scripted-models.ts';
import { invalidRecipe, pancakes, Recipe, readUpdates, recipeFrom } from '../../../support/structured-outputs.ts';

describe('a value', () => {
  it('is typed by its schema, and its partials are deep and read-only', () => {
    const { output } = recipeFrom([chunkedReply(pancakes)]);
    expectTypeOf(output.value).resolves.toEqualTypeOf<z.output<typeof Recipe>>();
    type Partial = Extract<Awaited<ReturnType<typeof output.next>>, { type: 'partial' }>['value'];
    expectTypeOf<Partial>().toEqualTypeOf<{
      readonly title?: string;
      readonly minutes?: number;
      readonly steps?: readonly string[];
    }>();
  });

  it('calls nothing before it is requested, and then once for any number of readers', async () => {
    const { model, output } = recipeFrom([chunkedReply(pancakes)]);
    output[Symbol.asyncIterator]();
    await settle(3);
    expect(model.calls).toHaveLength(0);
    const [a, b, updates] = await Promise.all([output.value, output.value, readUpdates(output)]);
    expect(a).toBe(b);
    expect(updates.at(-1)).toMatchObject({ type: 'value' });
    expect(model.calls).toHaveLength(1);
  });
});

describe('updates', () => {
  it('[A1] [A8] void a failed attempt with a reset and emit nothing of it afterward', async () => {
    const updates = await readUpdates(recipeFrom([chunkedReply(invalidRecipe, 3), chunkedReply(pancakes, 3)]).output);
    const at = updates.findIndex(({ type }) => type === 'reset');
    expect(updates.slice(0, at).every(({ type, attempt }) => type === 'partial' && attempt === 1)).toBe(true);
    expect(updates[at]).toMatchObject({ attempt: 1, retryInMs: 0, failure: { stage: 'schema' } });
    expect(updates.slice(at + 1).every(({ attempt }) => attempt === 2)).toBe(true);
  });

  it('[A8] give a slow reader the reset and no stale partial before it', async () => {
    const { output } = recipeFrom([chunkedReply(invalidRecipe, 3), chunkedReply(pancakes, 3)]);
    const reading = output[Symbol.asyncIterator]();
    expect((await reading.next()).value).toMatchObject({ type: 'partial', attempt: 1 });
    await settle();
    expect((await reading.next()).value).toMatchObject({ type: 'reset', attempt: 1 });
    expect((await reading.next()).value).toMatchObject({ type: 'partial', attempt: 2, value: pancakes });
    expect((await reading.next()).value).toMatchObject({ type: 'value', value: pancakes });
    expect(await reading.next()).toEqual({ done: true, value: undefined });
  });

  it('start with the current partial for a late reader, and with the value after the end', async () => {
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { output } = recipeFrom([
      [textPart('{"title":"Pan'), gate, ...chunkedReply('cakes","minutes":25,"steps":[]}')],
    ]);
    void output.value;
    await settle();
    const late = output[Symbol.asyncIterator]();
    expect((await late.next()).value).toMatchObject({ type: 'partial', value: { title: 'Pan' } });
    go();
    await output.value;
    expect((await readUpdates(output)).map(({ type }) => type)).toEqual(['value']);
  });

  it('[A5] [A7] carry an immutable, JSON-serializable execution without in-flight attempt state', async () => {
    const secret = 'Zebra';
    const { output } = recipeFrom([
      chunkedReply({ ...pancakes, title: secret, minutes: 'x' }),
      chunkedReply({ ...pancakes, title: secret }),
    ]);
    const frozen: { text: string; execution: unknown }[] = [];
    for await (const { type, attempt, execution } of output) {
      const json = JSON.stringify(execution);
      expect(z.strictObject(attemptExecutionSchema.shape).parse(JSON.parse(json))).toEqual(execution);
      const finished = execution.attempts.length;
      expect(finished).toBe(type === 'partial' ? attempt - 1 : attempt);
      if (type === 'partial' && attempt === 1) expect(json).not.toContain(secret);
      frozen.push({ text: json, execution });
    }
    expect(frozen.length).toBeGreaterThan(10);
    for (const { text: before, execution } of frozen) expect(JSON.stringify(execution)).toBe(before);
    expect(new Set(frozen.map(({ execution }) => execution)).size).toBe(3);
  });
});

describe('a failed output', () => {
  it('[A10] [A11] reports every attempt: text, errors by path, usage, and duration', async () => {
    const usage = { inputTokens: 10, outputTokens: 20, estimated: false };
    const told = (value: unknown): CallScript => [
      textPart(JSON.stringify(value)),
      { type: 'finish', reason: 'stop', usage },
    ];
    const { output } = recipeFrom([told(invalidRecipe)]);
    const error = await output.value.catch((met: unknown) => met);
    expect(error).toBeInstanceOf(AttemptsExhausted);
    expect(error).toMatchObject({
      name: 'AttemptsExhausted',
      code: 'attempts_exhausted',
      failure: { stage: 'schema' },
    });
    const { attempts, usage: total, message } = error as AttemptsExhausted;
    expect(attempts).toHaveLength(3);
    for (const [index, attempt] of attempts.entries())
      expect(attempt).toMatchObject({
        attempt: index + 1,
        text: JSON.stringify(invalidRecipe),
        failure: { stage: 'schema', issues: [{ path: 'minutes' }] },
        usage,
        startedAtMs: 0,
        durationMs: 0,
      });
    expect(total).toEqual({ modelCalls: 3, inputTokens: 30, outputTokens: 60, estimated: false, cost: null });
    expect(message).toMatch(/^No value for "output" after 3 attempts; the last failed in schema: .*minutes/);
    expect(message).not.toContain('\n');
  });

  it('gives every reader the same error after the last reset', async () => {
    const { output } = recipeFrom([chunkedReply(invalidRecipe, 50)]);
    const seen: string[] = [];
    const error = await (async () => {
      for await (const update of output) seen.push(`${update.type} ${update.attempt}`);
    })().catch((met: unknown) => met);
    expect(seen.at(-1)).toBe('reset 3');
    await expect(output.value).rejects.toBe(error);
    expect(await output.hasNext()).toBe(true);
    await expect(output.next()).rejects.toBe(error);
    expect(await output.hasNext()).toBe(false);
    await expect(output.next()).rejects.toMatchObject(anError('invalid_option', 'hasNext'));
  });

  it('causes no unhandled rejection for a consumer that only iterates', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const { output } = recipeFrom([chunkedReply(invalidRecipe, 50)]);
    void output.value;
    await expect(readUpdates(output)).rejects.toBeInstanceOf(AttemptsExhausted);
    await settle(5);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});

describe('stopping', () => {
  it('cancel() closes the call, rejects the value, and ends the readers', async () => {
    const { model, output } = recipeFrom([[textPart('{"title":"Pan'), neverSettles]]);
    const reading = readUpdates(output);
    await settle();
    expect(model.open()).toBe(1);
    output.cancel('the tab was closed');
    await expect(output.value).rejects.toMatchObject({
      code: 'cancelled',
      message: 'No value: the tab was closed.',
    });
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
    await settle();
    expect(model.open()).toBe(0);
  });

  it('[A11] cancel() records the aborted call with its estimated usage', async () => {
    const { model, output } = recipeFrom([[textPart('{"title":"Pancakes with blueberries'), neverSettles]]);
    void output.value;
    await settle();
    output.cancel('the tab was closed');
    const { attempts, usage } = output.execution;
    expect(attempts).toHaveLength(1);
    expect(attempts[0]?.failure).toMatchObject({ stage: 'aborted', code: 'aborted' });
    expect(attempts[0]?.failure?.message).toContain('the tab was closed');
    const promptChars = (model.calls[0]?.turns ?? []).reduce((sum, { content }) => sum + content.length, 0);
    const [inputTokens, outputTokens] = [Math.ceil(promptChars / 4), Math.ceil(35 / 4)];
    expect(usage).toMatchObject({ modelCalls: 1, inputTokens, outputTokens, estimated: true });
  });

  it('an aborted signal does the same, without a call if aborted before the start', async () => {
    const controller = new AbortController();
    const { model, output } = recipeFrom([[neverSettles]], { signal: controller.signal });
    const value = output.value;
    await settle();
    controller.abort(new Error('enough'));
    await expect(value).rejects.toMatchObject({ code: 'cancelled', cause: { message: 'enough' } });
    await settle();
    expect(model.open()).toBe(0);

    const late = recipeFrom([chunkedReply(pancakes)], { signal: AbortSignal.abort() });
    await expect(late.output.value).rejects.toMatchObject({ code: 'cancelled' });
    expect(late.model.calls).toHaveLength(0);
  });

  it('the last reader to leave stops the call unless the value was requested', async () => {
    const left = recipeFrom([[textPart('{"title":"Pan'), neverSettles]]);
    for await (const _ of left.output) break;
    await settle();
    expect(left.model.open()).toBe(0);
    await expect(left.output.value).rejects.toMatchObject(anError('cancelled', 'reads'));

    const awaited = recipeFrom([chunkedReply(pancakes, 2)]);
    const value = awaited.output.value;
    for await (const _ of awaited.output) break;
    expect(await value).toEqual(pancakes);
  });

  it('a stopped actor rejects the value as canceled', async () => {
    const { output } = recipeFrom([[neverSettles]]);
    const value = output.value;
    output.actor.stop();
    await expect(value).rejects.toMatchObject({ code: 'cancelled' });
  });
});

it('a request uses a valid tool name for the schema and counts the schema if it is sent beside the turns', async () => {
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
    expect(failure).toMatchObject(anError('model_threw', 'async *stream'));
  });
});
