import { setImmediate } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import type { Capability } from '../../../src/tools/capability.ts';
import {
  actionResultOf,
  type CapabilityActionOptions,
  startActionWithCapabilities,
  workCall,
  workCapability,
} from '../../support/action-machine.ts';
import { flush } from '../../support/attempt-machine.ts';

const one = async (execute: Capability['execute']) =>
  (await actionResultOf({ capabilities: [workCapability(execute)], wish: workCall() })).results[0];

describe('the result of a capability in the action loop', () => {
  test.each<[string, unknown, string]>([
    ['a string unchanged', 'done\n', 'done\n'],
    ['an object as JSON', { a: [1] }, '{"a":[1]}'],
    ['a number as JSON', 5, '5'],
    ['null as JSON', null, 'null'],
    ['undefined as empty text', undefined, ''],
    ['a function as empty text', () => 1, ''],
    ['the value of a promise', Promise.resolve('later'), 'later'],
    ['100,000 characters, whole', 'x'.repeat(100_000), 'x'.repeat(100_000)],
  ])('[R2] is %s, with arguments and timing', async (_, gives, output) => {
    const result = await one(() => gives);
    expect(result?.output === output).toBe(true);
    expect(result).toMatchObject({
      capability: 'work',
      success: true,
      error: null,
      arguments: {},
      startedAtMs: 0,
      durationMs: 0,
    });
  });

  test('[R2] is timed by the clock of the run', async () => {
    const scene: CapabilityActionOptions = {
      capabilities: [workCapability(() => new Promise((resolve) => (finish = resolve)))],
      wish: workCall(),
    };
    let finish: (text: string) => void = () => {};
    const { actor, clock } = startActionWithCapabilities(scene);
    clock.increment(400);
    await flush(500);
    clock.increment(70);
    finish('done');
    await flush(500);
    expect(actor.getSnapshot().context.results[0]).toMatchObject({ startedAtMs: 400, durationMs: 70 });
  });

  const circle: { self?: unknown } = {};
  circle.self = circle;
  test.each<[string, () => unknown]>([
    [
      'an error',
      () => {
        throw new Error('boom\nat line 1');
      },
    ],
    [
      'an error without a message',
      () => {
        throw new Error('');
      },
    ],
    [
      'a string',
      () => {
        throw 'boom';
      },
    ],
    [
      'undefined',
      () => {
        throw undefined;
      },
    ],
    [
      'null',
      () => {
        throw null;
      },
    ],
    [
      'a symbol',
      () => {
        throw Symbol('boom');
      },
    ],
    [
      'an object without a prototype',
      () => {
        throw Object.create(null);
      },
    ],
    ['a rejected promise', () => Promise.reject(new Error('boom'))],
    ['a circular value', () => circle],
    ['a BigInt', () => 1n],
  ])('[R7] is unsuccessful with a one-line error if it throws %s', async (_, execute) => {
    const result = await one(execute);
    expect(result).toMatchObject({ success: false, output: '' });
    expect(result?.error).toMatch(/^[^\n]+$/);
  });

  test('[R7] fails and is not stored if it has 100 MB', async () => {
    expect(await one(() => 'x'.repeat(100_000_000))).toMatchObject({
      success: false,
      output: '',
      code: 'result_too_long',
      error: expect.stringContaining('100000000 characters; the maximum is 100000'),
    });
  });

  test('[R10] is ignored if it settles after the machine stopped', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      for (const late of ['resolve', 'reject'] as const) {
        let settle: ((value: unknown) => void) | undefined;
        const execute = () =>
          new Promise((resolve, reject) => {
            settle = { resolve, reject }[late];
          });
        const { actor } = startActionWithCapabilities({ capabilities: [workCapability(execute)], wish: workCall() });
        await flush(500);
        actor.stop();
        settle?.(new Error('late'));
        await setImmediate();
        await setImmediate();
        expect(settle).toBeDefined();
        expect(actor.getSnapshot().context.results).toEqual([]);
      }
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  test('[R10] is aborted when the machine stops', async () => {
    let signal: AbortSignal | undefined;
    const { actor } = startActionWithCapabilities({
      capabilities: [
        workCapability(
          (_, context) =>
            new Promise(() => {
              signal = context.signal;
            }),
        ),
      ],
      wish: workCall(),
    });
    await flush(500);
    expect(signal?.aborted).toBe(false);
    actor.stop();
    expect(signal?.aborted).toBe(true);
  });

  test('[R7] is aborted when the time limit is reached', async () => {
    let signal: AbortSignal | undefined;
    const { actor, clock } = startActionWithCapabilities({
      capabilities: [
        workCapability(
          (_, context) =>
            new Promise(() => {
              signal = context.signal;
            }),
        ),
      ],
      wish: workCall(),
      input: { capabilityMs: 10 },
    });
    await flush(500);
    clock.increment(10);
    expect(signal?.aborted).toBe(true);
    await flush(500);
    expect(actor.getSnapshot()).toMatchObject({ status: 'done', context: { results: [{ success: false }] } });
  });
});
