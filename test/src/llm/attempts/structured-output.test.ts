import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { attemptExecutionSchema } from '../../../../machines/contracts/attempt.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import type { StructuredUpdate } from '../../../../src/llm/attempts/updates.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { type CallScript, chunkedReply, neverSettles, textPart } from '../../../support/scripted-models.ts';
import { invalidRecipe, pancakes, type Recipe, readUpdates, recipeFrom } from '../../../support/structured-outputs.ts';

describe('a value', () => {
  it('[A6] [A7] and its execution are the same when awaited, iterated, stepped, or sent in one chunk', async () => {
    const seen: unknown[] = [];
    for (const size of [1, 3, 7, 1_000]) {
      const awaited = recipeFrom([chunkedReply(invalidRecipe, size), chunkedReply(pancakes, size)]).output;
      expect(await awaited.value).toEqual(pancakes);
      const iterated = recipeFrom([chunkedReply(invalidRecipe, size), chunkedReply(pancakes, size)]).output;
      expect((await readUpdates(iterated)).at(-1)).toMatchObject({ type: 'value', attempt: 2, value: pancakes });
      const stepped = recipeFrom([chunkedReply(invalidRecipe, size), chunkedReply(pancakes, size)]).output;
      let last: StructuredUpdate | undefined;
      while (await stepped.hasNext()) last = await stepped.next();
      expect(last).toMatchObject({ type: 'value', value: pancakes });
      seen.push(awaited.execution, iterated.execution, stepped.execution);
    }
    for (const execution of seen) expect(execution).toEqual(seen[0]);
  });

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

  it('calls nothing before it is requested', async () => {
    const { model, output } = recipeFrom([chunkedReply(pancakes)]);
    output[Symbol.asyncIterator]();
    await settle(3);
    expect(model.calls).toHaveLength(0);
    await output.value;
    expect(model.calls).toHaveLength(1);
  });

  it('makes one call for any number of readers', async () => {
    const { model, output } = recipeFrom([chunkedReply(pancakes)]);
    const [a, b, updates] = await Promise.all([output.value, output.value, readUpdates(output)]);
    expect(a).toBe(b);
    expect(updates.at(-1)).toMatchObject({ type: 'value' });
    expect(model.calls).toHaveLength(1);
  });
});

describe('updates', () => {
  it('[A7] emit the whole value as the last partial, before the value', async () => {
    for (const size of [1, 5, 1_000]) {
      const updates = await readUpdates(recipeFrom([chunkedReply(pancakes, size)]).output);
      expect(updates.map(({ type }) => type).slice(-2)).toEqual(['partial', 'value']);
      expect(updates.at(-2)).toMatchObject({ value: pancakes });
      expect(updates.at(-1)).toMatchObject({ value: pancakes });
    }
  });

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
    await expect(output.next()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('hasNext'),
    });
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

describe('the execution of an update', () => {
  it('[A7] is a new one with every reset and value, which partials share, and never changes', async () => {
    const { output } = recipeFrom([chunkedReply(invalidRecipe), chunkedReply(pancakes)]);
    const seen: { readonly what: string; readonly execution: object; readonly json: string }[] = [];
    for await (const { type, attempt, execution } of output)
      seen.push({ what: `${type} ${attempt}`, execution, json: JSON.stringify(execution) });
    const firstOf = new Map(seen.toReversed().map(({ what, execution }) => [what, execution]));
    expect([...firstOf.keys()].toReversed()).toEqual(['partial 1', 'reset 1', 'partial 2', 'value 2']);
    const [before, reset, partial, value] = [...firstOf.values()].toReversed();
    expect(new Set([before, reset, value]).size).toBe(3);
    expect(partial).toBe(reset);
    for (const { execution, json } of seen) expect(JSON.stringify(execution)).toBe(json);
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
    await expect(left.output.value).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('reads'),
    });

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
