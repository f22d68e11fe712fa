import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { actionResultOf, startActionWithCapabilities, workCall, workCapability } from '../../support/action-machine.ts';
import { flush } from '../../support/attempt-machine.ts';

/** Starts the action machine with a capability that never settles by itself. */
async function startHanging(input = {}) {
  let context: { readonly signal: AbortSignal } | undefined;
  let settle: { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void } | undefined;
  const hanging = workCapability((_, given) => {
    context = given;
    return new Promise((resolve, reject) => {
      settle = { resolve, reject };
    });
  });
  const { actor, clock } = startActionWithCapabilities({ capabilities: [hanging], wish: workCall(), input });
  await flush(500);
  if (context === undefined || settle === undefined) throw new Error('the capability did not start');
  return { actor, clock, signal: context.signal, settle };
}

describe('a capability in the action loop', () => {
  const schema = z.object({ n: z.number(), on: z.optional(z.iso.date().transform((text) => new Date(text))) });
  const run = (text: string) =>
    actionResultOf({ capabilities: [workCapability(({ n }: { n: number }) => n, schema)], wish: workCall(text) });

  test('[R2] has its arguments as JSON, its output and its timing in the result', async () => {
    const { results } = await run('{"n":3,"on":"2024-01-02"}');
    expect(results).toMatchObject([
      { capability: 'work', success: true, arguments: { n: 3, on: '2024-01-02' }, output: '3', durationMs: 0 },
    ]);
    expect(JSON.parse(JSON.stringify(results))).toStrictEqual(results);
  });

  test.each([
    ['n=3', 'arguments_not_object'],
    ['[3]', 'arguments_not_object'],
    ['{"n":"3"}', 'arguments_misfit'],
    ['{"n":1,"__proto__":{"polluted":true}}', 'arguments_misfit'],
  ])('[R5] is not run with the arguments %j: %s', async (text, code) => {
    expect(await run(text)).toMatchObject({ results: [{ success: false, code }], stopReason: 'invalid_next_step' });
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('[R7] that throws has an unsuccessful result', async () => {
    const failing = workCapability(() => Promise.reject(new Error('boom')));
    const { results } = await actionResultOf({ capabilities: [failing], wish: workCall() });
    expect(results).toMatchObject([{ success: false, code: 'threw', output: '', error: 'boom' }]);
  });

  test('[R7] is aborted when the time limit is reached', async () => {
    const { actor, clock, signal } = await startHanging({ capabilityMs: 10 });
    clock.increment(10);
    expect(signal.aborted).toBe(true);
    await flush(500);
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', context: { results: [{ success: false }] } });
  });
});
