import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { resolveOptions } from '../../../../src/chain/runtime/options.ts';
import { partsFor, restateStart, timedModel } from '../../../../src/integrations/restate/run-request.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { modelRequest } from '../../../support/model-streams.ts';
import { type CallScript, chunkedReply, neverSettles, partModel, textPart } from '../../../support/scripted-models.ts';

const parts = resolveOptions({});
const begin = (request = {}, options = {}) =>
  restateStart('run-7', { request: 'Is it so?', ...request }, resolveOptions(options));

describe('restateStart', () => {
  it('uses the key as run id and moves the reply timeouts out of the charts', () => {
    const { start, patience } = begin({ host: { tenant: 'a' } }, { limits: { firstChunkMs: 5000, chunkMs: 700 } });
    expect(start).toMatchObject({ type: 'start', actorId: 'run-7', product: { host: { tenant: 'a' } } });
    const limits = { firstChunkMs: 2_147_483_647, chunkMs: 2_147_483_647, phaseMs: 120_000 };
    expect(start.input).toMatchObject({ runId: 'run-7', limits });
    expect(patience).toEqual({ firstChunkMs: 5000, chunkMs: 700 });
  });

  it.each([
    [{ request: '' }, 'invalid_request'],
    [{ mode: 'nonsense' }, 'invalid_option'],
    [{ signal: {} }, 'invalid_option'],
  ])('rejects %j', (request, code) => {
    expect(() => begin(request)).toThrow(expect.objectContaining({ code }));
  });

  it('cannot continue on another chart; the error names both', () => {
    const started = begin();
    const { start } = started;
    expect(partsFor(started, parts).models).toHaveLength(1);
    const other = { ...started, start: { ...start, machine: { ...start.machine, digest: '0000' } } };
    expect(() => partsFor(other, parts)).toThrow(`0000; this PostChain has postChain ${start.machine.digest}`);
    expect(() => partsFor(other, parts)).toThrow(expect.objectContaining({ code: 'invalid_journal' }));
  });
});

/** Reads one call of a timed model into `parts`. */
function startReading(script: CallScript, timeouts = { firstChunkMs: 1000, chunkMs: 100 }) {
  const clock = new SimulatedClock();
  const inner = partModel(script);
  const controller = new AbortController();
  const parts: ModelPart[] = [];
  const read = async (): Promise<void> => {
    const { signal } = controller;
    for await (const part of timedModel(inner, timeouts, clock).stream(modelRequest(), { signal })) parts.push(part);
  };
  const over = read();
  const pass = async (ms: number): Promise<void> => {
    await settle(5);
    clock.increment(ms);
    await settle(5);
  };
  return { clock, inner, controller, parts, over, pass };
}

const failureIn = (parts: readonly ModelPart[]) =>
  parts.flatMap((part) => (part.type === 'failure' ? [part.failure] : []));

describe('timedModel', () => {
  it('yields the parts of its model unchanged', async () => {
    const script = chunkedReply('All is well.');
    const { parts, over } = startReading(script);
    await over;
    expect(parts).toEqual(script);
  });

  it('fails with no_reply if the first part is late, and closes the call', async () => {
    const { parts, over, pass, inner } = startReading([neverSettles]);
    await pass(999);
    expect(parts).toEqual([]);
    await pass(1);
    await over;
    expect(failureIn(parts)).toMatchObject([
      { stage: 'transport', code: 'no_reply', message: 'No reply began within 1000 ms.', retryable: true },
    ]);
    await settle(5);
    expect(inner.open()).toBe(0);
  });

  it('fails with stalled if a later part is late, however late the first one was', async () => {
    let begin = (): void => {};
    const later = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { parts, over, pass } = startReading([later, textPart('So '), neverSettles]);
    await pass(999);
    begin();
    await pass(99);
    expect(parts).toEqual([textPart('So ')]);
    await pass(1);
    await over;
    expect(failureIn(parts)).toMatchObject([
      { stage: 'transport', code: 'stalled', message: 'The reply stopped for more than 100 ms.' },
    ]);
  });

  it('passes an abort to its model and leaves no timer behind', async () => {
    const { controller, inner, over, pass } = startReading([textPart('So '), neverSettles]);
    await pass(1);
    controller.abort();
    await over;
    expect(inner.open()).toBe(0);
  });

  it('keeps the other properties of its model', async () => {
    const inner = { ...partModel(chunkedReply('x')), nativeTools: true, countTokens: async () => [7] };
    const timed = timedModel(inner, { firstChunkMs: 1, chunkMs: 1 }, new SimulatedClock());
    expect(timed).toMatchObject({ id: 'parts', contextWindowTokens: 128_000, nativeTools: true });
    expect(await timed.countTokens?.(['x'])).toEqual([7]);
    expect(
      timedModel(partModel(chunkedReply('x')), { firstChunkMs: 1, chunkMs: 1 }, new SimulatedClock()).countTokens,
    ).toBeUndefined();
  });
});
