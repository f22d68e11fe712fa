import { getEventListeners } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { attemptExecutionSchema } from '../../../../machines/contracts/attempt.ts';
import { type ChatModel, type ModelPart, REPLY_FORMS } from '../../../../machines/contracts/model.ts';
import { failureOf } from '../../../../machines/policies/failures.ts';
import { parseNearly } from '../../../../src/internal/nearly-json.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import type { ElementUpdate, StructuredUpdate } from '../../../../src/llm/attempts/updates.ts';
import { ExternalTimers, nextTurn, TestClock } from '../../../support/simulated-clock.ts';

const List = z.array(
  z.object({ n: z.int().refine((n) => n !== 13), label: z.string().transform((text) => `${text}!`) }),
);
const items = [
  { n: 1, label: 'a "b"' },
  { n: 2, label: 'ü😀\n' },
];
const parsed = List.parse(items);
const right = JSON.stringify({ value: items });

const call = fc.record({
  reply: fc.constantFrom(right, right, right.replace('2', '13'), right.slice(0, -2), 'no', ''),
  pieces: fc.integer({ min: 1, max: 9 }),
  pauseMs: fc.constantFrom(0, 0, 30, 90, 400),
  ending: fc.constantFrom('stop', 'stop', 'stop', 'length', 'server_error', 'unauthorized', 'throw', 'hang', 'nothing'),
});
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;

const READERS = ['value', 'updates', 'steps', 'elements'] as const;
type Reader = (typeof READERS)[number];

const plan = fc.record({
  calls: fc.array(call, { minLength: 14, maxLength: 14 }),
  replyForm: fc.constantFrom(...REPLY_FORMS),
  fallbacks: fc.integer({ min: 0, max: 2 }),
  policy: fc.record({
    maxCorrections: fc.integer({ min: 0, max: 2 }),
    maxTransportRetries: fc.integer({ min: 0, max: 2 }),
    backoffBaseMs: fc.constantFrom(0, 50),
    backoffJitter: fc.constantFrom(0, 1),
    stopOnRepeatedError: fc.boolean(),
  }),
  limits: fc.record({
    firstChunkMs: fc.constantFrom(100, 250),
    chunkMs: fc.constantFrom(80, 160),
    totalMs: fc.constantFrom(700, 600_000),
    maxReplyChars: fc.constantFrom(20, 5_000),
    maxCalls: fc.integer({ min: 1, max: 12 }),
  }),
  abortAtMs: fc.option(fc.integer({ min: 0, max: 600 }), { freq: 4 }),
});
type Plan = typeof plan extends fc.Arbitrary<infer Value> ? Value : never;

async function* play(
  { reply, pieces, pauseMs, ending }: Call,
  form: Plan['replyForm'],
  world: ExternalTimers,
  signal: AbortSignal,
) {
  for (let at = 0; at < pieces && !signal.aborted; at += 1) {
    const size = Math.ceil(reply.length / pieces);
    const text = reply.slice(at * size, (at + 1) * size);
    await world.wait(pauseMs, signal);
    if (!signal.aborted)
      yield (
        form === 'text'
          ? { type: 'text-delta', text }
          : { type: 'tool-call-delta', index: 0, name: 'output', arguments: text }
      ) satisfies ModelPart;
  }
  if (ending === 'hang') await world.wait(1_000_000, signal);
  if (signal.aborted || ending === 'nothing') return;
  if (ending === 'throw') throw new Error('a model that breaks its contract');
  const usage = { inputTokens: 7, outputTokens: 3, estimated: false };
  if (ending === 'stop' || ending === 'length') yield { type: 'finish', reason: ending, usage } satisfies ModelPart;
  else
    yield {
      type: 'failure',
      failure: failureOf('transport', ending, 'It failed.', { retryable: ending === 'server_error' }),
      usage,
    } satisfies ModelPart;
}

type Update = StructuredUpdate | ElementUpdate;

/** Runs a plan on a simulated clock, which only moves when nothing else happens. */
async function run({ calls, replyForm, fallbacks, policy, limits, abortAtMs }: Plan, reader: Reader) {
  const clock = new TestClock();
  const world = new ExternalTimers(clock);
  const stop = new AbortController();
  let [made, open] = [0, 0];
  const models = Array.from(
    { length: fallbacks + 1 },
    (_, at): ChatModel => ({
      id: `model-${at}`,
      contextWindowTokens: 128_000,
      async *stream(_request, { signal: aborted }) {
        open += 1;
        try {
          yield* play(calls[made++] as Call, replyForm, world, aborted);
        } finally {
          open -= 1;
        }
      },
    }),
  );
  const [model, ...fallbackModels] = models as [ChatModel, ...ChatModel[]];
  const output = createStructuredOutput({
    model,
    schema: List,
    prompt: 'Which?',
    replyForm,
    limits,
    clock,
    signal: stop.signal,
    newId: () => 'o1',
    policy: { ...policy, fallbackModels },
  });
  const updates: Update[] = [];
  const keep = (update: Update): void => void updates.push(structuredClone(update));
  const read = async (): Promise<void> => {
    if (reader === 'steps') while (await output.hasNext()) keep(await output.next());
    else if (reader !== 'value')
      for await (const update of reader === 'updates' ? output : output.elements) keep(update);
  };
  let end: { readonly value?: unknown; readonly code?: string } | null = null;
  let endings = 0;
  output.value.then(
    (value) => {
      end = { value };
      endings += 1;
    },
    ({ code }: { code: string }) => {
      end = { code };
      endings += 1;
    },
  );
  let isRead = false;
  void read()
    .catch(() => {})
    .finally(() => {
      isRead = true;
    });
  if (abortAtMs !== null) void world.wait(abortAtMs).then(() => stop.abort());
  while (end === null || !isRead) {
    await nextTurn();
    if (end === null && clock.nextAt === null) throw new Error('it hangs');
    if (end === null) clock.set(clock.nextAt as number);
  }
  await nextTurn();
  const leftOver = {
    calls: open,
    timers: clock.openTimers - world.open,
    listeners: getEventListeners(stop.signal, 'abort').length,
  };
  return {
    end: end as { value?: unknown; code?: string },
    endings,
    endedAtMs: clock.now(),
    made,
    updates,
    leftOver,
    execution: output.execution,
  };
}

describe('any structured output with any model, policy, and reader', () => {
  it('[A3] [A4] [A5] [A6] [A7] [A8] [A11] [A12] [A13] ends once within its limits, leaves nothing behind, and does not depend on its reader', async () => {
    const seen = new Set<string>();
    // The library is loaded in real time, which does not pass on a simulated clock.
    expect(await parseNearly('{a:1}', { to: 5, open: 0, strings: [], code: '{a:1}' })).toMatchObject({
      value: { a: 1 },
    });
    await fc.assert(
      fc.asyncProperty(plan, async (random) => {
        const runs = new Map<Reader, Awaited<ReturnType<typeof run>>>();
        for (const reader of READERS) runs.set(reader, await run(random, reader));
        const { end, execution, endedAtMs, made } = runs.get('value') as Awaited<ReturnType<typeof run>>;
        const { attempts, corrections, transportRetries, fallbacks, usage } = execution;

        expect(corrections).toBeLessThanOrEqual(random.policy.maxCorrections);
        expect(transportRetries).toBeLessThanOrEqual(random.policy.maxTransportRetries);
        expect(fallbacks).toBeLessThanOrEqual(random.fallbacks);
        expect(attempts.length).toBe(made);
        expect(made).toBeLessThanOrEqual(random.limits.maxCalls);
        expect(endedAtMs).toBeLessThanOrEqual(random.limits.totalMs);
        expect(usage.modelCalls).toBe(attempts.length);
        expect(usage.inputTokens).toBe(attempts.reduce((sum, attempt) => sum + attempt.usage.inputTokens, 0));
        expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, at) => at + 1));
        expect(attemptExecutionSchema.parse(JSON.parse(JSON.stringify(execution)))).toEqual(execution);
        expect(attempts.slice(0, -1).every(({ failure }) => failure !== null)).toBe(true);
        if (end.code === undefined) {
          expect(end.value).toEqual(parsed);
          expect(attempts.at(-1)?.failure).toBeNull();
        } else expect(['attempts_exhausted', 'cancelled']).toContain(end.code);
        seen.add(`${end.code ?? 'value'} ${attempts.at(-1)?.failure?.code}`);

        for (const [reader, other] of runs) {
          expect(other.endings).toBe(1);
          expect(other.leftOver).toEqual({ calls: 0, timers: 0, listeners: 0 });
          expect(other.end).toEqual(end);
          expect(other.execution).toEqual(execution);
          if (reader === 'value') continue;
          const lastReset = other.updates.findLastIndex(({ type }) => type === 'reset');
          const resets = other.updates.flatMap((update) => (update.type === 'reset' ? [update.attempt] : []));
          if (end.code !== 'cancelled') {
            const failed = attempts.filter(({ failure }) => failure !== null);
            expect(resets).toEqual(failed.map(({ attempt }) => attempt));
          }
          const numbers = other.updates.map(({ attempt }) => attempt);
          expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
          if (end.code !== undefined) continue;
          const ofLast = other.updates.slice(lastReset + 1);
          if (reader === 'elements')
            expect(ofLast.map((update) => update.type === 'element' && update.value)).toEqual(parsed);
          else
            expect(ofLast.slice(-2)).toMatchObject([
              { type: 'partial', value: items },
              { type: 'value', value: parsed },
            ]);
        }
      }),
      { numRuns: 600 },
    );
    for (const code of ['no_json', 'invalid_reply', 'too_long', 'no_reply', 'stalled', 'model_threw', 'unauthorized'])
      expect([...seen].join()).toContain(`attempts_exhausted ${code}`);
    for (const end of ['value', 'cancelled']) expect([...seen].join()).toContain(end);
  });
});
