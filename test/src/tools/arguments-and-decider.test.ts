import { describe, expect, it, test } from 'vitest';
import * as z from 'zod';
import type { CapabilityFailure } from '../../../machines/contracts/capability.ts';
import {
  actionResultOf,
  next,
  startActionWithCapabilities,
  workCall,
  workCapability,
} from '../../support/action-machine.ts';
import { flush } from '../../support/attempt-machine.ts';

describe('the arguments of a capability in the action loop', () => {
  const strict = z.object({ n: z.number(), unit: z.string().default('m') });
  const run = (text: string, args: z.ZodType = strict) =>
    actionResultOf({ capabilities: [workCapability((given) => given, args)], wish: workCall(text) });

  test('[R2] are the output of its schema, with defaults', async () => {
    const { results } = await run('{"n":3}');
    expect(results).toMatchObject([{ arguments: { n: 3 }, output: '{"n":3,"unit":"m"}' }]);
  });

  const refused = (code: CapabilityFailure) => ({
    results: [{ success: false, code }],
    stopReason: 'invalid_next_step',
  });

  test.each(['n=3', '{"n":', '[3]', '"text"', 'null', '3', 'undefined'])(
    '[R5] %j are not an object: it is not run',
    async (text) => {
      expect(await run(text)).toMatchObject(refused('arguments_not_object'));
    },
  );

  test.each(['', '{}', '{"n":"3"}', '{"n":3,"more":1}'])('[R5] %j fail the schema: it is not run', async (text) => {
    expect(await run(text)).toMatchObject(refused('arguments_misfit'));
  });

  test('[R5] are invalid if the schema throws', async () => {
    const throwing = z.object({}).refine(() => {
      throw new Error('bad rule');
    });
    expect(await run('{}', throwing)).toMatchObject(refused('arguments_misfit'));
  });

  test('[R5] are rejected with the key __proto__', async () => {
    const found = await run('{"n":1,"__proto__":{"polluted":true}}', z.looseObject({ n: z.number() }));
    expect(found).toMatchObject(refused('arguments_misfit'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each([
    ['non-JSON text if the schema has a default', 'rm -rf', z.object({ n: z.number() }).default({ n: 1 })],
    ['non-JSON text if the schema accepts any object', '{"n":', z.looseObject({})],
    ['a list if the schema accepts any object', '[1]', z.looseObject({})],
    ['null if the schema accepts any object', 'null', z.looseObject({})],
  ])('[R5] are rejected if they are not an object: %s', async (_, text, schema) => {
    expect(await run(text, schema)).toMatchObject(refused('arguments_not_object'));
  });

  it('are stored as JSON, even if the schema transforms them', async () => {
    const schema = z.object({ on: z.iso.date().transform((text) => new Date(text)) });
    const { actor } = startActionWithCapabilities({
      capabilities: [workCapability(() => 'ok', schema)],
      wish: workCall('{"on":"2024-01-02"}'),
    });
    await flush(500);
    const { results } = actor.getSnapshot().context;
    expect(results).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(results))).toStrictEqual(results);
  });
});

describe('the decider', () => {
  const capabilities = [workCapability(() => 'ran')];

  test('[R6] by default ends the loop after the first run', async () => {
    expect(await actionResultOf({ capabilities, wish: workCall() })).toMatchObject({
      results: [{ output: 'ran' }],
      stopReason: 'done',
    });
  });

  test('[R5] ends the loop after the first run if there is none', async () => {
    expect(await actionResultOf({ capabilities, wish: workCall(), decider: null })).toMatchObject({
      stopReason: 'no_decider',
    });
  });

  test('[R7] ends the loop with the last result if it throws synchronously', async () => {
    const decider = () => {
      throw new Error('no');
    };
    expect(await actionResultOf({ capabilities, wish: workCall(), decider })).toMatchObject({
      results: [{ output: 'ran' }],
      stopReason: 'decider_failed',
    });
  });

  test('[R5] ends the loop with the last result if its next step is unknown or has invalid arguments', async () => {
    for (const step of [next('play'), next('work', 5), next('constructor'), next('__proto__')]) {
      const result = await actionResultOf({ capabilities, wish: workCall(), decider: () => step });
      expect(result).toMatchObject({ results: [{ output: 'ran' }], stopReason: 'invalid_next_step' });
    }
  });

  test('is aborted when the machine stops', async () => {
    let signal: AbortSignal | undefined;
    const { actor } = startActionWithCapabilities({
      capabilities,
      wish: workCall(),
      decider: (_, options) => {
        signal = options.signal;
        return new Promise(() => {});
      },
    });
    await flush(500);
    actor.stop();
    expect(signal?.aborted).toBe(true);
  });

  it('ends the loop with the last result if it never answers', async () => {
    const { actor, clock } = startActionWithCapabilities({
      capabilities,
      wish: workCall(),
      decider: () => new Promise(() => {}),
    });
    await flush(500);
    clock.increment(1_000_000_000);
    await flush(500);
    expect(actor.getSnapshot().output).toMatchObject({ ok: true, value: { results: [{ output: 'ran' }] } });
  });
});
