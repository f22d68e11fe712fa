import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, test, vi } from 'vitest';
import * as z from 'zod';
import {
  actionResultOf,
  next,
  startActionWithCapabilities,
  workCall,
  workCapability,
} from '../../support/action-machine.ts';
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

  test('[R2] is timed by the clock of the run', async () => {
    const { actor, clock, settle } = await startHanging({ capabilityMs: 1_000 });
    clock.increment(470);
    settle.resolve('done');
    await flush(500);
    expect(actor.getSnapshot().context.results[0]).toMatchObject({ startedAtMs: 0, durationMs: 470 });
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

  test.each(['resolve', 'reject'] as const)(
    '[R10] is aborted when the machine stops, and ignored if it settles later: %s',
    async (late) => {
      const unhandled = vi.fn();
      process.on('unhandledRejection', unhandled);
      try {
        const { actor, signal, settle } = await startHanging();
        expect(signal.aborted).toBe(false);
        actor.stop();
        expect(signal.aborted).toBe(true);
        settle[late](new Error('late'));
        await setImmediate();
        await setImmediate();
        expect(actor.getSnapshot().context.results).toEqual([]);
        expect(unhandled).not.toHaveBeenCalled();
      } finally {
        process.off('unhandledRejection', unhandled);
      }
    },
  );
});

describe('the decider', () => {
  const capabilities = [workCapability(() => 'ran')];
  const failing = () => {
    throw new Error('no');
  };

  test.each<[string, object, string]>([
    ['[R6] by default ends the loop after the first run', {}, 'done'],
    ['[R5] ends the loop after the first run if there is none', { decider: null }, 'no_decider'],
    ['[R7] ends the loop with the last result if it throws', { decider: failing }, 'decider_failed'],
    ...[next('play'), next('work', 5), next('__proto__')].map((step): [string, object, string] => [
      `[R5] ends the loop with the last result if its next step is invalid: ${JSON.stringify(step)}`,
      { decider: () => step },
      'invalid_next_step',
    ]),
  ])('%s', async (_, decider, stopReason) => {
    const result = await actionResultOf({ capabilities, wish: workCall(), ...decider });
    expect(result).toMatchObject({ results: [{ output: 'ran' }], stopReason });
  });

  it('is aborted when the machine stops, and ends the loop with the last result if it never answers', async () => {
    const signals: AbortSignal[] = [];
    const start = () =>
      startActionWithCapabilities({
        capabilities,
        wish: workCall(),
        decider: (_, { signal }) => {
          signals.push(signal);
          return new Promise(() => {});
        },
      });
    const [stopped, waiting] = [start(), start()];
    await flush(500);
    stopped.actor.stop();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    waiting.clock.increment(1_000_000_000);
    await flush(500);
    expect(waiting.actor.getSnapshot().output).toMatchObject({ ok: true, value: { results: [{ output: 'ran' }] } });
  });
});
