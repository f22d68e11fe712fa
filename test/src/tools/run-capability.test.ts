import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, test, vi } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { capabilityResultSchema } from '../../../machines/contracts/capability.ts';
import type { Capability, CapabilityContext } from '../../../src/tools/capability.ts';
import { needsApproval } from '../../../src/tools/needs-approval.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { type CapabilityRun, runCapability } from '../../../src/tools/run-capability.ts';

const run = (
  execute: Capability['execute'],
  given: Partial<CapabilityRun> = {},
  schema: Capability['arguments'] = z.looseObject({}),
) =>
  runCapability(createRegistry([{ name: 'work', description: 'Works.', arguments: schema, execute }]), {
    capability: 'work',
    arguments: {},
    maxResultChars: 1_000,
    sessionId: null,
    idempotencyKey: 'run-1.s1.action.1',
    now: () => 0,
    signal: new AbortController().signal,
    ...given,
  });

describe('running a capability', () => {
  test('[R2] returns output, arguments, timing by the clock of the run, and session', async () => {
    const times = [1_000, 1_250];
    const result = await run(() => 'done', { arguments: { a: 1 }, sessionId: 's1', now: () => times.shift() ?? 0 });
    expect(result).toEqual({
      capability: 'work',
      arguments: { a: 1 },
      success: true,
      output: 'done',
      code: null,
      error: null,
      sessionId: 's1',
      synthesized: false,
      startedAtMs: 1_000,
      durationMs: 250,
    });
    expect(mini.omit(capabilityResultSchema, { id: true }).parse(result)).toEqual(result);
  });

  test('[R10] passes the parsed arguments, the signal, the clock, and the session', async () => {
    const schema = z.object({ n: z.string().transform(Number), unit: z.string().default('m') });
    let seen: [unknown, CapabilityContext] | undefined;
    const { signal } = new AbortController();
    await run(
      (args, context) => {
        seen = [args, context];
      },
      { arguments: { n: '5' }, sessionId: 's', now: () => 7, signal },
      schema,
    );
    expect(seen?.[0]).toEqual({ n: 5, unit: 'm' });
    expect(seen?.[1].signal).toBe(signal);
    expect([seen?.[1].now(), seen?.[1].sessionId]).toEqual([7, 's']);
  });

  test('[Q2] keeps the recorded arguments, whatever user code does with its own', async () => {
    const given = { to: 'Ada', items: [{ euros: 5 }] };
    const change = (args: unknown): void => void Object.assign((args as typeof given).items[0] ?? {}, { euros: 500 });
    const schema = z.object({ to: z.string(), items: z.any() });
    const result = await run(change, { arguments: given }, schema);
    expect(result.arguments).toEqual({ to: 'Ada', items: [{ euros: 5 }] });
    const registry = createRegistry([
      { name: 'work', description: 'Works.', arguments: schema, execute: change, approval: change as never },
    ]);
    const context = { signal: new AbortController().signal, sessionId: null, now: () => 0 };
    await needsApproval(registry, { capability: 'work', arguments: given }, 'never', context);
    expect(given).toEqual({ to: 'Ada', items: [{ euros: 5 }] });
  });

  test('[R2] reports a duration of 0 if the clock goes backward', async () => {
    const times = [10, 5];
    expect(await run(() => '', { now: () => times.shift() ?? 0 })).toMatchObject({ startedAtMs: 10, durationMs: 0 });
  });

  test('[R7] returns a result for an unknown capability and for invalid arguments', async () => {
    expect(await run(() => '', { capability: '__proto__' })).toMatchObject({
      success: false,
      code: 'unknown_capability',
    });
    const execute = vi.fn();
    expect(await run(execute, { arguments: { n: 'x' } }, z.object({ n: z.int() }))).toMatchObject({
      success: false,
      code: 'arguments_misfit',
      error: expect.stringMatching(/^n: /),
    });
    expect(execute).not.toHaveBeenCalled();
  });
});

describe('an error thrown by a capability', () => {
  test.each<[string, unknown]>([
    ['an error', new Error('boom\nat line 1')],
    ['a string', 'boom'],
    ['undefined', undefined],
    ['null', null],
    ['an object without a prototype', Object.create(null)],
    ['a text that clears the screen', new Error('\u001b[2J\u202eboom\u0007')],
    ['a text of 10 MB', new Error('x'.repeat(10_000_000))],
  ])('[R7] becomes a result with a one-line printable error: %s', async (_, thrown) => {
    for (const execute of [
      () => {
        throw thrown;
      },
      async () => {
        throw thrown;
      },
    ]) {
      const result = await run(execute);
      expect(result).toMatchObject({ success: false, output: '', code: 'threw' });
      expect(result.error).toMatch(/^[^\p{C}]{1,400}$/u);
      expect(mini.omit(capabilityResultSchema, { id: true }).parse(result)).toEqual(result);
    }
  });

  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  test.each<[string, unknown]>([
    ['a circle', circle],
    ['a BigInt', { n: 1n }],
    ['a nesting of 1,000,000 lists', deep()],
  ])('[R7] also covers a result that is not JSON: %s', async (_, given) => {
    const result = await run(() => given);
    expect(result).toMatchObject({ success: false, output: '', code: 'threw' });
    expect(result.error).toMatch(/^[^\p{C}]{1,400}$/u);
  });
});

describe('a result that is too long', () => {
  test('[R7] fails with both numbers and is not stored', async () => {
    expect(await run(() => 'x'.repeat(1_001))).toMatchObject({
      success: false,
      code: 'result_too_long',
      output: '',
      error: 'the result has 1001 characters; the maximum is 1000; request less of it',
    });
    expect(await run(() => Array.from({ length: 600 }, () => 1))).toMatchObject({
      code: 'result_too_long',
      output: '',
    });
    expect(await run(() => 'x'.repeat(100_000_000), { maxResultChars: 100_000 })).toMatchObject({
      code: 'result_too_long',
      error: expect.stringMatching(/100000000.*100000;/),
    });
  });

  test('[R2] is accepted at the limit', async () => {
    expect((await run(() => 'x'.repeat(1_000))).output).toHaveLength(1_000);
  });
});

describe('aborting a capability', () => {
  it('[R10] aborts its signal immediately, and ends the run even if it ignores the signal', async () => {
    const controller = new AbortController();
    let heard = false;
    const result = run(
      (_, { signal }) => {
        signal.addEventListener('abort', () => {
          heard = true;
        });
        return new Promise(() => {});
      },
      { signal: controller.signal },
    );
    await setImmediate();
    controller.abort();
    expect(heard).toBe(true);
    expect(await result).toMatchObject({ success: false, code: 'aborted', error: 'the run was aborted' });
  });

  it('[R10] before it starts prevents it from running', async () => {
    const execute = vi.fn();
    expect(await run(execute, { signal: AbortSignal.abort() })).toMatchObject({
      success: false,
      code: 'aborted',
    });
    expect(execute).not.toHaveBeenCalled();
  });

  it.each<[string, (settle: { resolve: (value: unknown) => void; reject: (error: unknown) => void }) => void]>([
    ['answers', ({ resolve }) => resolve('late')],
    ['rejects', ({ reject }) => reject(new Error('late'))],
    ['rejects with undefined', ({ reject }) => reject(undefined)],
  ])('[R10] ignores a capability that %s afterwards', async (_, settle) => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      const controller = new AbortController();
      let settling: Parameters<typeof settle>[0] | undefined;
      const execute = () =>
        new Promise((resolve, reject) => {
          settling = { resolve, reject };
        });
      const result = await Promise.race([run(execute, { signal: controller.signal }), aborting(controller)]);
      expect(result).toMatchObject({ error: 'the run was aborted' });
      if (settling === undefined) throw new Error('it did not run');
      settle(settling);
      await setImmediate();
      await setImmediate();
      expect(unhandled).not.toHaveBeenCalled();
      expect(result).toMatchObject({ success: false, output: '' });
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it('[R10] leaves no listener on a signal that never aborts', async () => {
    const { signal } = new AbortController();
    for (const execute of [() => 'done', () => Promise.reject(new Error('no'))]) await run(execute, { signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

async function aborting(controller: AbortController): Promise<never> {
  await setImmediate();
  controller.abort();
  return new Promise(() => {});
}

function deep(): unknown {
  let list: unknown = 1;
  for (let level = 0; level < 1_000_000; level += 1) list = [list];
  return list;
}
