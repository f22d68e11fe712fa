import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { CapabilityCall } from '../../../../machines/contracts/capability.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import type { ContinuationOption } from '../../../../src/chain/runtime/decider.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { defineCapability } from '../../../../src/tools/capability.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';
import { runToEnd, TestClock } from '../../../support/simulated-clock.ts';

/** What a call of `work` does: it takes this many milliseconds, then returns or throws. A long one reaches its deadline. */
interface Work {
  readonly ms: number;
  readonly throws?: boolean;
}

const work = (given: Work): CapabilityCall => ({ capability: 'work', arguments: JSON.stringify(given) });

interface Loop {
  readonly calls: readonly CapabilityCall[];
  readonly limits?: PostChainOptions['limits'];
  readonly continuation?: ContinuationOption;
  readonly continuations?: readonly unknown[];
  readonly cancelAtMs?: number;
}

/** Runs a loop whose model requests these calls first. Records when each run starts and ends. */
async function runLoop({ calls, limits = {}, continuation = 'none', continuations = [], cancelAtMs }: Loop) {
  const clock = new TestClock();
  const spans: { readonly ms: number; readonly from: number; to: number }[] = [];
  const capability = defineCapability({
    name: 'work',
    description: 'Works.',
    arguments: z.object({ ms: z.number(), throws: z.boolean().default(false) }),
    execute: ({ ms, throws }, { signal }) => {
      const span = { ms, from: clock.now(), to: Number.NaN };
      spans.push(span);
      return new Promise<string>((resolve, reject) => {
        const end = (): void => {
          span.to = clock.now();
          if (throws) reject(new Error(`failed after ${ms}`));
          else resolve(`worked ${ms}`);
        };
        const timer = clock.setTimeout(end, ms);
        signal.addEventListener('abort', () => clock.clearTimeout(timer));
      });
    },
  });
  const model = scriptedModel(
    { action: [{ ...replies.action, calls: [...calls] }], continuation: continuations.map((reply) => ({ reply })) },
    { otherwise: replies },
  );
  const loop = createCapabilityLoop({ model, clock, capabilities: [capability], limits, continuation });
  const run = loop.run({ request: 'Do it.' });
  if (cancelAtMs !== undefined) clock.setTimeout(run.cancel, cancelAtMs);
  await runToEnd(
    () => run.ref.getSnapshot().status === 'active',
    clock,
    () => run.entries.length,
  );
  return { outcome: await run.outcome, journal: run.entries, spans, model };
}

const ofType = <T extends JournalEntry['type']>(journal: readonly JournalEntry[], type: T) =>
  journal.filter((entry): entry is Extract<JournalEntry, { type: T }> => entry.type === type);

describe('the calls of one reply', () => {
  it('[R3] do not run beyond the limit, which ends the loop and is reported', async () => {
    const calls = [1, 2, 3, 4].map((ms) => work({ ms }));
    const { outcome, spans, model } = await runLoop({ calls, limits: { maxContinuations: 3 }, continuation: 'model' });
    expect(spans.map(({ ms }) => ms)).toEqual([1, 2, 3]);
    expect(outcome).toMatchObject({
      stopReason: 'limit_reached',
      problem: {
        code: null,
        message: '1 of 4 calls did not run: a request has at most 3 capability runs (maxContinuations)',
      },
    });
    expect(model.calls.map(({ task }) => task)).toEqual(['action']);
  });

  it('[R5] of a decider run beside one that is not a call at all', async () => {
    const next = [{ capability: 'work', arguments: { ms: 1 } }, { capability: 'work', arguments: 5 }, null];
    const continuation: ContinuationOption = ({ results }) =>
      results.length > 1 ? { done: true } : ({ done: false, next } as never);
    const { outcome } = await runLoop({ calls: [work({ ms: 2 })], continuation });
    expect(outcome.stopReason).toBe('done');
    expect(outcome.results.map(({ code, output }) => code ?? output)).toEqual([
      'worked 2',
      'worked 1',
      'arguments_not_object',
      'empty_name',
    ]);
  });

  it('[C8] keep the results that they have when the loop is aborted; the others have failed', async () => {
    const calls = [5, 60, 60, 60, 60, 60].map((ms) => work({ ms }));
    const { outcome, journal } = await runLoop({ calls, limits: { maxContinuations: 9 }, cancelAtMs: 30 });
    expect(outcome.stopReason).toBe('aborted');
    expect(outcome.results.map(({ id, code, output }) => [id, code ?? output])).toEqual([
      ['s1.action.1', 'worked 5'],
      ...[2, 3, 4, 5].map((number) => [`s1.action.${number}`, 'aborted']),
      [null, 'aborted'],
    ]);
    expect(ofType(journal, 'capability-end').map(({ index }) => index)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(ofType(journal, 'capability-stop')).toMatchObject([{ reason: 'aborted', runs: 5, failed: 5 }]);
  });

  it('can be given, or chosen by a decider, as a list', async () => {
    const clock = new TestClock();
    const say = capabilityNamed('say', ({ text }) => text, { arguments: z.object({ text: z.string() }) });
    const step = (...texts: readonly string[]) => texts.map((text) => ({ capability: 'say', arguments: { text } }));
    const loop = createCapabilityLoop({
      model: scriptedModel({}),
      clock,
      capabilities: [say],
      continuation: ({ results }) =>
        results.length > 2 ? { done: true } : { done: false, next: step('three', 'four') },
    });
    const { results } = await loop.run({ request: 'Say it.', call: step('one', 'two') }).outcome;
    expect(results.map(({ output }) => output)).toEqual(['one', 'two', 'three', 'four']);
  });
});

describe('a call that the model repeats', () => {
  const again = (given: object) => ({
    done: false,
    finalOutput: null,
    next: [{ capability: 'work', arguments: JSON.stringify(given) }],
  });

  it('ends the loop after three steps with the same arguments, in whatever order they are', async () => {
    const continuations = [
      { throws: false, ms: 1 },
      { ms: 1, throws: false },
      { throws: false, ms: 1 },
    ].map(again);
    const { outcome, journal, spans } = await runLoop({
      calls: [work({ ms: 1, throws: false })],
      continuation: 'model',
      continuations,
      limits: { maxContinuations: 10 },
    });
    expect(spans).toHaveLength(3);
    expect(outcome).toMatchObject({
      stopReason: 'same_call_repeated',
      result: { output: 'worked 1' },
      problem: { message: 'the model called "work" again, after 3 steps with the same call (maxSameCalls)' },
    });
    const guards = ofType(journal, 'transition')
      .flatMap(({ candidates }) => candidates)
      .filter(({ guard }) => guard === 'sameCallRepeated');
    expect(guards.at(-1)).toMatchObject({
      result: 'taken',
      inputs: { decider: 'model', capability: 'work', steps: 3, maxSameCalls: 3 },
    });
  });
});
