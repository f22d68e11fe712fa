import { describe, expect, it, test } from 'vitest';
import type { ChatModel, ModelPart } from '../../../machines/contracts/model.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { GOAL, startAttemptWithModel } from '../../support/attempt-machine.ts';

const wrong = { ...GOAL, clarity: 3, alignment: [{ messageId: 7, score: 0.5 }] };

describe('attempts with a model', () => {
  test('[A6] yields the same value for any chunking and for a single chunk', async () => {
    for (const chunkChars of [1, 3, 16, 100_000]) {
      const rig = startAttemptWithModel(scriptedModel({ intention: [GOAL] }, { chunkChars }));
      expect((await rig.settle()).output).toMatchObject({ ok: true, value: GOAL });
    }
  });

  test('[A7] emits the last partial, equal to the value, before the end', async () => {
    const rig = startAttemptWithModel(scriptedModel({ intention: [GOAL] }));
    await rig.settle();
    const types = rig.seen.map(({ type }) => type);
    expect(types.lastIndexOf('partial')).toBeLessThan(types.indexOf('attempt-end'));
    expect(rig.ofType('partial').at(-1)).toMatchObject({ attempt: 1, value: GOAL });
    expect(types[0]).toBe('attempt-start');
  });

  test('[A1] [A8] emits all partials of a failed attempt before its attempt-end and restarts partials on retry', async () => {
    const rig = startAttemptWithModel(scriptedModel({ intention: [wrong, GOAL] }));
    await rig.settle();
    const spans = rig.seen.map((one) => {
      if (one.type === 'partial') return `partial ${one.attempt}`;
      return one.type === 'attempt-end' ? `end ${one.attempt}` : one.type;
    });
    expect(spans.lastIndexOf('partial 1')).toBeLessThan(spans.indexOf('end 1'));
    expect(spans.indexOf('end 1')).toBeLessThan(spans.indexOf('partial 2'));
    expect(spans.lastIndexOf('partial 2')).toBeLessThan(spans.indexOf('end 2'));
    expect(rig.ofType('partial').find(({ attempt }) => attempt === 2)?.value).toEqual({ goal: 'to unde' });
    expect(rig.ofType('attempt-end').map(({ failure }) => failure?.stage ?? null)).toEqual(['schema', null]);
  });

  test('[A9] sends the invalid reply and its errors, path by path, in the second call', async () => {
    const model = scriptedModel({ intention: [wrong, GOAL] });
    const rig = startAttemptWithModel(model);
    expect((await rig.settle()).output).toMatchObject({ ok: true, execution: { corrections: 1 } });
    const [first, second] = model.calls;
    expect(second?.turns.slice(0, 2)).toEqual(first?.turns);
    expect(second?.turns[2]).toEqual({ role: 'assistant', content: JSON.stringify(wrong) });
    expect(second?.turns[3]?.role).toBe('user');
    expect(second?.turns[3]?.content).toMatch(/- clarity: .*\n- alignment\.0\.messageId: /);
  });

  test('[A10] distinguishes transport, extraction, and schema failures', async () => {
    const rig = startAttemptWithModel(
      scriptedModel({
        intention: [{ text: 'no JSON' }, wrong, { reply: GOAL, cut: 20 }],
      }),
      { maxTransportRetries: 0 },
    );
    await rig.settle();
    expect(rig.ofType('attempt-end').map(({ failure }) => failure?.stage)).toEqual([
      'extraction',
      'schema',
      'transport',
    ]);
  });

  test('[A2] leaves validation to the machine: the stream level returns what it read, valid or not', async () => {
    const rig = startAttemptWithModel(scriptedModel({ intention: [wrong] }), { maxCorrections: 0 });
    await rig.settle();
    expect(rig.ofType('partial').at(-1)?.value).toEqual(wrong);
    expect(rig.actor.getSnapshot().output).toMatchObject({ ok: false, failure: { stage: 'schema' } });
  });

  test('[A11] adds up the usage of failed attempts', async () => {
    const usage = { inputTokens: 100, outputTokens: 7, estimated: false };
    const rig = startAttemptWithModel(scriptedModel({ intention: [wrong, { text: '' }, GOAL] }, { usage }));
    expect((await rig.settle()).output?.execution).toMatchObject({
      usage: { modelCalls: 3, inputTokens: 300, outputTokens: 21, estimated: false, cost: null },
    });
  });

  it('[A11] charges a stalled attempt with an estimate of its prompt and the streamed text', async () => {
    const text = '{"goal":"'.padEnd(4_000, 'x');
    const rig = startAttemptWithModel(scriptedModel({ intention: [{ hang: true, text }, GOAL] }));
    await rig.settle();
    rig.clock.increment(900);
    const [end] = rig.ofType('attempt-end');
    expect(end?.failure).toMatchObject({ code: 'stalled' });
    expect(end?.usage.outputTokens).toBeGreaterThanOrEqual(800);
  });
});

describe('an attempt that is left early', () => {
  test('[A13] aborts a stalled stream, ignores its later chunks, and succeeds on retry', async () => {
    const rig = startAttemptWithModel(scriptedModel({ intention: [{ hang: true, text: '{"goal":"so' }, GOAL] }));
    await rig.settle();
    rig.clock.increment(900);
    const before = rig.ofType('partial').length;
    await rig.settle();
    expect(rig.ofType('partial')).toHaveLength(before);
    rig.clock.increment(100);
    expect((await rig.settle()).output).toMatchObject({ ok: true, value: GOAL });
    expect(rig.ofType('attempt-end').map(({ failure }) => failure?.code ?? null)).toEqual(['stalled', null]);
  });

  test('aborts the call and reports nothing more when stopped during an attempt', async () => {
    let signal: AbortSignal | undefined;
    let push: (text: string) => void = () => {};
    const model: ChatModel = {
      id: 'pushed',
      contextWindowTokens: 4_000,
      async *stream(_, options): AsyncGenerator<ModelPart, void> {
        signal = options.signal;
        for (;;) yield { type: 'text-delta', text: await new Promise<string>((resolve) => (push = resolve)) };
      },
    };
    const rig = startAttemptWithModel(model);
    await rig.settle();
    push('{"goal":"so');
    await rig.settle();
    expect(signal?.aborted).toBe(false);
    rig.actor.stop();
    expect(signal?.aborted).toBe(true);
    const told = rig.seen.length;
    push(' far"');
    await rig.settle();
    expect(rig.seen).toHaveLength(told);
  });

  test('sends heartbeats for chunks at most once per eighth of chunkMs', async () => {
    let push: (text: string) => void = () => {};
    const model: ChatModel = {
      id: 'pushed',
      contextWindowTokens: 4_000,
      async *stream(): AsyncGenerator<ModelPart, void> {
        for (;;) yield { type: 'text-delta', text: await new Promise<string>((resolve) => (push = resolve)) };
      },
    };
    const rig = startAttemptWithModel(model, { chunkMs: 800 });
    const beats = new Set<number>();
    rig.actor.subscribe(({ context }) => void beats.add(context.progress?.atMs ?? 0));
    for (let ms = 0; ms < 500; ms += 10) {
      await rig.settle();
      push(' ');
      await rig.settle();
      rig.clock.increment(10);
    }
    expect([...beats]).toEqual([0, 100, 200, 300, 400]);
  });
});

describe('errors around the model', () => {
  test.each<[string, () => AsyncIterable<ModelPart>]>([
    [
      'throws instead of streaming',
      () => {
        throw new Error('not today');
      },
    ],
    [
      'throws mid-stream',
      async function* () {
        yield { type: 'text-delta', text: '{' };
        throw new Error('not today');
      },
    ],
  ])('[A10] reports an unexpected failure and does not retry when a model %s', async (_, stream) => {
    const rig = startAttemptWithModel({ id: 'broken', contextWindowTokens: 4_000, stream });
    expect((await rig.settle()).output).toMatchObject({
      ok: false,
      failure: { stage: 'unexpected', message: 'not today', retryable: false },
      execution: { usage: { modelCalls: 1 } },
    });
  });

  test('reports invalid prompt input by name and does not call the model', async () => {
    const model = scriptedModel({});
    const rig = startAttemptWithModel(model, {}, { phase: 'intention', request: 5 });
    const { output } = await rig.settle();
    expect(output).toMatchObject({ ok: false, failure: { stage: 'unexpected', code: 'prompt_failed' } });
    expect(model.calls).toHaveLength(0);
  });
});
