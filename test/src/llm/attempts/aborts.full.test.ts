import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Clock } from '../../../../src/durable/clock.ts';
import type { StructuredOutput } from '../../../../src/llm/attempts/output-handle.ts';
import { exponentialBackoff } from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { openaiModel } from '../../../../src/models/openai/openai-model.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { chatServer, chunk, event, streaming } from '../../../support/chat-server.ts';
import { type CallScript, chunkedReply, neverSettles, partModel, textPart } from '../../../support/scripted-models.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import { sampleSize } from '../../../support/soak.ts';
import { failingCall } from '../../../support/structured-outputs.ts';

const Recipe = z.object({ title: z.string() });
type Output = StructuredOutput<{ title: string }, { title: string }>;
type Stop = (output: Output) => void | Promise<void>;

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;
const cancelled = { code: 'cancelled' };

/** Awaits the value, and cancels it once all pending microtasks have run. */
const awaited: Stop = async (output) => {
  const value = output.value;
  await settle(1);
  output.cancel();
  await expect(value).rejects.toMatchObject(cancelled);
};

/** Starts to read and stops at the first update. */
const readOnce: Stop = async (output) => {
  for await (const _ of output) break;
};

let warnings: Error[] = [];
const note = (warning: Error): void => void warnings.push(warning);
beforeEach(() => {
  warnings = [];
  process.on('warning', note);
});
afterEach(() => void process.off('warning', note));

const ABORTS = sampleSize('aborts over one signal', 1_000, 10_000);

describe(`${ABORTS} aborts over one signal that never aborts`, () => {
  /** Node warns about a possible leak from the eleventh listener on one signal. */
  const PARALLEL = 10;
  const midStream: CallScript = [textPart('{"title":"Pan'), neverSettles];
  const whole = chunkedReply({ title: 'Pancakes' }, 100);
  const points: readonly [string, CallScript, Stop][] = [
    ['before the start', whole, (output) => output.cancel()],
    ['never asked', whole, (output) => void output[Symbol.asyncIterator]()],
    ['before the first part', [neverSettles], awaited],
    ['in mid-stream', midStream, awaited],
    ['left in mid-stream', midStream, readOnce],
    [
      'its actor stopped',
      midStream,
      async (output) => {
        const value = output.value;
        await settle(1);
        output.actor.stop();
        await expect(value).rejects.toMatchObject(cancelled);
      },
    ],
    ['while it backs off', failingCall(), awaited],
    ['left while it backs off', failingCall(), readOnce],
    ['while its schema validates', chunkedReply({ title: 'slow' }, 100), awaited],
    [
      'right at the end',
      whole,
      async (output) => {
        const value = output.value;
        // The last partial immediately precedes the value.
        for await (const update of output) if (update.type === 'partial') output.cancel();
        await value;
      },
    ],
  ];
  // Some schemas validate indefinitely.
  const schema = Recipe.refine(({ title }) => title !== 'slow' || neverSettles);

  for (const [point, script, stop] of points)
    it(`[A13] leave no listener, timer or call: ${point}`, async () => {
      const { signal } = new AbortController();
      const clock = new TestClock();
      const model = partModel(script);
      let most = 0;
      for (let done = 0; done < ABORTS / points.length; done += PARALLEL) {
        const batch = Array.from({ length: PARALLEL }, async () => {
          const output = createStructuredOutput({
            model,
            schema,
            prompt: 'How?',
            signal,
            clock,
            policy: exponentialBackoff({ jitter: 1 }),
          });
          await Promise.resolve(stop(output)).catch((error: unknown) => expect(error).toMatchObject(cancelled));
        });
        most = Math.max(most, listeners(signal));
        await Promise.all(batch);
        most = Math.max(most, listeners(signal));
      }
      await settle();
      expect([listeners(signal), clock.openTimers, model.open()]).toEqual([0, 0, 0]);
      expect(most).toBeLessThanOrEqual(PARALLEL);
      expect(warnings).toEqual([]);
    });

  it('[A13] nor after the value was delivered', async () => {
    const { signal } = new AbortController();
    const clock = new TestClock();
    const model = partModel(whole);
    for (let done = 0; done < 50; done += 1) {
      const output = createStructuredOutput({ model, schema, prompt: 'How?', signal, clock });
      expect(await output.value).toEqual({ title: 'Pancakes' });
      expect([listeners(signal), clock.openTimers, model.open()]).toEqual([0, 0, 0]);
    }
  });
});

describe('aborts over HTTP', () => {
  const ABORTS = sampleSize('aborts over HTTP', 300, 4_005);
  /** A third of them have their own signal. */
  const PARALLEL = 15;

  /** Process handles that a leak would show in. */
  function handles(): Record<string, number> {
    const open: Record<string, number> = {};
    for (const type of process.getActiveResourcesInfo())
      if (/TCP|Timeout|Pipe/.test(type)) open[type] = (open[type] ?? 0) + 1;
    return open;
  }

  it(`[A13] leave no socket, timer, or listener after ${ABORTS} mid-stream aborts`, async () => {
    const server = await chatServer(({ response }) => {
      streaming(response).write(event(chunk({ content: '{"title":"Pan' })));
    });
    const model = openaiModel({ model: 'test-model', apiKey: 'sk-test-1234567890', baseURL: server.baseURL });
    const shared = new AbortController();
    const clock = countedSystemClock();
    const before = handles();

    const abort = async (index: number): Promise<void> => {
      const own = new AbortController();
      const output = createStructuredOutput({
        model,
        schema: Recipe,
        prompt: 'How?',
        clock,
        signal: index % 3 === 0 ? own.signal : shared.signal,
      });
      const way = index % 3;
      if (way === 2) return readOnce(output);
      try {
        for await (const _ of output) way === 0 ? own.abort() : output.cancel();
      } catch (error) {
        expect(error).toMatchObject(cancelled);
      }
      expect(listeners(own.signal)).toBe(0);
    };
    for (let done = 0; done < ABORTS; done += PARALLEL)
      await Promise.all(Array.from({ length: PARALLEL }, (_, index) => abort(done + index)));

    expect(server.exchanges).toHaveLength(ABORTS);
    await server.allClosed();
    expect(server.used().open).toBe(0);
    expect(await server.connections()).toBe(0);
    await settle();
    expect([listeners(shared.signal), clock.open()]).toEqual([0, 0]);
    const after = handles();
    for (const [type, count] of Object.entries(after)) expect(count, type).toBeLessThanOrEqual((before[type] ?? 0) + 2);
    expect(warnings).toEqual([]);
  });
});

/** Counts the timers of the system clock. */
function countedSystemClock(): Clock & { readonly open: () => number } {
  const open = new Set<unknown>();
  return {
    open: () => open.size,
    now: () => 0,
    setTimeout(fn, timeoutMs) {
      const timer = setTimeout(() => {
        open.delete(timer);
        fn();
      }, timeoutMs);
      open.add(timer);
      return timer;
    },
    clearTimeout(timer) {
      open.delete(timer);
      clearTimeout(timer as ReturnType<typeof setTimeout>);
    },
  };
}
