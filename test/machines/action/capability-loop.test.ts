import { describe, expect, it, test } from 'vitest';
import { capabilityResultSchema } from '../../../machines/contracts/capability.ts';
import { emittedEventSchema } from '../../../machines/contracts/events.ts';
import { limitsSchema } from '../../../machines/contracts/limits.ts';

import { actionReply, call, capabilityResult, done, next, startAction } from '../../support/action-machine.ts';

describe('a single request', () => {
  test('[R1] returns only the reply and calls nothing else when the model requests no capability', async () => {
    const rig = startAction({ reply: actionReply(null) });
    expect(await rig.result()).toEqual({
      reply: actionReply(null),
      prose: false,
      problem: null,
      results: [],
      runs: 0,
      stopReason: 'nothing_to_run',
      memory: [],
    });
    expect(rig.asked).toEqual({ validate: [], execute: [], decide: [] });
  });

  test('[R2] resolves, validates, and executes a requested capability with the validated arguments, then asks the decider', async () => {
    const rig = startAction({
      reply: actionReply(call('draft', { topic: 'sky' })),
      validate: () => ({ ok: true, arguments: { topic: 'sky', words: 100 } }),
    });
    const { results, stopReason } = await rig.result();
    expect(rig.asked.validate).toEqual([call('draft', { topic: 'sky' })]);
    expect(rig.asked.execute).toMatchObject([{ capability: 'draft', arguments: { topic: 'sky', words: 100 } }]);
    expect(rig.asked.decide).toEqual([
      { request: 'Write a note.', reply: actionReply(call('draft', { topic: 'sky' })), results, runsLeft: 4 },
    ]);
    expect({ output: results[0]?.output, stopReason }).toEqual({ output: 'draft ran', stopReason: 'done' });
  });

  test('[R1] calls the model once regardless of how many capabilities run', async () => {
    const rig = startAction({ decide: (_, asked) => (asked < 5 ? next('review') : done()) });
    expect((await rig.result()).results).toHaveLength(5);
    expect(rig.model.calls).toHaveLength(1);
  });

  test('fails without running a capability when the model call fails', async () => {
    const rig = startAction({ reply: { response: 5 } });
    await rig.settle();
    expect(rig.actor.getSnapshot().output).toMatchObject({ ok: false, failure: { stage: 'schema' } });
    expect(rig.asked.execute).toEqual([]);
  });
});

describe('stopping the loop', () => {
  test('[R5] stops after the first run when there is no decider', async () => {
    const rig = startAction({ input: { decider: 'none' } });
    expect(await rig.result()).toMatchObject({ results: [{ capability: 'draft' }], stopReason: 'no_decider' });
    expect(rig.asked.decide).toEqual([]);
  });

  test('[R5] stops when the decider immediately returns done (the default)', async () => {
    const { results, stopReason } = await startAction().result();
    expect({ runs: results.length, stopReason, synthesized: results[0]?.synthesized }).toEqual({
      runs: 1,
      stopReason: 'done',
      synthesized: false,
    });
  });

  test.each([1, 2, 5])('[R3] stops after %i capability runs and returns the last result', async (maxContinuations) => {
    const rig = startAction({ decide: () => next('review'), input: { maxContinuations } });
    const { results, stopReason } = await rig.result();
    expect({ runs: rig.asked.execute.length, results: results.length, stopReason }).toEqual({
      runs: maxContinuations,
      results: maxContinuations,
      stopReason: 'limit_reached',
    });
    expect(results.at(-1)?.output).toBe(maxContinuations === 1 ? 'draft ran' : 'review ran');
  });

  test('[R3] defaults to a limit of 5 runs and rejects a limit below one', () => {
    expect(limitsSchema.parse({}).maxContinuations).toBe(5);
    for (const value of [0, -1, 1.5]) expect(limitsSchema.safeParse({ maxContinuations: value }).success).toBe(false);
  });

  test('[R5] returns done and keeps the final output when the decider finishes at the limit', async () => {
    const rig = startAction({ decide: () => done('In short.'), input: { maxContinuations: 1 } });
    expect(await rig.result()).toMatchObject({ results: [{ output: 'In short.' }], stopReason: 'done' });
  });

  test('[R7] keeps all results so far when the decider throws', async () => {
    const rig = startAction({
      decide: (_, asked) => {
        if (asked === 2) throw new Error('no idea');
        return next('review');
      },
    });
    const { results, stopReason } = await rig.result();
    expect(results.map(({ output }) => output)).toEqual(['draft ran', 'review ran']);
    expect(stopReason).toBe('decider_failed');
  });

  it.each<[string, unknown]>([
    ['reports done and omits the final output', { done: true }],
    ['returns undefined', undefined],
    ['returns null', null],
    ['returns a non-string final output', { done: true, finalOutput: 5 }],
  ])('[R5] keeps all results so far when the decider %s', async (_, says) => {
    const rig = startAction({ decide: () => says as never });
    expect((await rig.result()).results).toMatchObject([{ output: 'draft ran' }]);
  });
});

describe('a failed capability run', () => {
  test('[C4] [R7] records a failed result and continues when the capability throws', async () => {
    const rig = startAction({
      execute: (input, run) => {
        if (run === 1) throw new Error('disk full\nat write');
        return capabilityResult(input);
      },
      decide: (_, asked) => (asked === 1 ? next('review') : done()),
    });
    const { results, stopReason } = await rig.result();
    expect(results).toMatchObject([
      { capability: 'draft', success: false, output: '', error: 'disk full' },
      { capability: 'review', success: true, error: null },
    ]);
    expect(stopReason).toBe('done');
    expect(rig.asked.decide[0]?.results).toMatchObject([{ success: false, error: 'disk full' }]);
  });

  test('[R7] aborts the capability, records a failed result, and continues when the capability times out', async () => {
    const rig = startAction({
      execute: (input, run) => (run === 1 ? new Promise<never>(() => {}) : capabilityResult(input)),
      decide: (_, asked) => (asked === 1 ? next('review') : done()),
      input: { capabilityMs: 1_000 },
    });
    await rig.settle();
    rig.clock.increment(999);
    expect(rig.actor.getSnapshot().matches({ calling: { slot1: 'executing' } })).toBe(true);
    expect(rig.aborted).toEqual([]);
    rig.clock.increment(1);
    expect(rig.aborted).toEqual(['draft']);
    const { results } = await rig.result();
    expect(results).toMatchObject([
      { capability: 'draft', success: false, error: 'no result within 1000 ms', durationMs: 1_000 },
      { capability: 'review', success: true },
    ]);
    for (const result of results) expect(capabilityResultSchema.parse(result)).toEqual(result);
  });

  it('[R2] records how long a timed-out run was awaited; the journal has its start time', async () => {
    const rig = startAction({ execute: () => new Promise<never>(() => {}), input: { capabilityMs: 1_000 } });
    rig.clock.increment(500);
    await rig.settle();
    rig.clock.increment(1_000);
    expect((await rig.result()).results).toMatchObject([{ startedAtMs: null, durationMs: 1_000 }]);
  });

  test('discards a result that arrives after the deadline', async () => {
    let finish: () => void = () => {};
    const rig = startAction({
      execute: (input) => new Promise((resolve) => (finish = () => resolve(capabilityResult(input)))),
    });
    await rig.settle();
    rig.clock.increment(1_000);
    finish();
    expect((await rig.result()).results).toMatchObject([{ success: false }]);
  });
});

describe('reported events', () => {
  test('[R8] reports the start and end of every run with its index and result, in order and in journal format', async () => {
    const rig = startAction({ decide: (_, asked) => (asked === 1 ? next('review') : done()) });
    const { results } = await rig.result();
    expect(rig.facts).toEqual([
      { type: 'capability-start', id: 's1.action.1', capability: 'draft', index: 1 },
      { type: 'capability-end', index: 1, result: results[0] },
      { type: 'continuation', index: 1, decidedBy: 'function', done: false, next: ['review'], limitReached: false },
      { type: 'capability-start', id: 's1.action.2', capability: 'review', index: 2 },
      { type: 'capability-end', index: 2, result: results[1] },
      { type: 'continuation', index: 2, decidedBy: 'function', done: true, next: [], limitReached: false },
      { type: 'capability-stop', reason: 'done', runs: 2, failed: 0, capabilityMs: 4, code: null, problem: null },
    ]);
    for (const fact of rig.facts) expect(emittedEventSchema.parse(fact)).toEqual(fact);
  });

  test('keeps the context JSON-serializable in every snapshot', async () => {
    const rig = startAction({ decide: (_, asked) => (asked < 3 ? next('review', { n: 1 }) : done('End.')) });
    await rig.result();
    expect(rig.contexts.length).toBeGreaterThan(8);
    for (const context of rig.contexts) expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
  });

  test('aborts the running capability and reports nothing more when the loop is stopped', async () => {
    const rig = startAction({ execute: () => new Promise<never>(() => {}) });
    await rig.settle();
    rig.actor.stop();
    await rig.settle();
    rig.clock.increment(1_000_000);
    expect(rig.aborted).toEqual(['draft']);
    expect(rig.facts.map(({ type }) => type)).toEqual(['capability-start']);
  });
});
