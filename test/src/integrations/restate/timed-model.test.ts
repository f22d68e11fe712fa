import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { ModelPart } from '../../../../machines/contracts/model.ts';
import { timedModel } from '../../../../src/integrations/restate/run-request.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { modelRequest } from '../../../support/model-request.ts';
import { type CallScript, partModel, said, silence, text } from '../../../support/part-model.ts';

/** Reads one call of a timed model; what came so far is in `parts`. */
function startReading(script: CallScript, patience = { firstChunkMs: 1000, chunkMs: 100 }) {
  const clock = new SimulatedClock();
  const inner = partModel(script);
  const controller = new AbortController();
  const parts: ModelPart[] = [];
  const read = async (): Promise<void> => {
    const { signal } = controller;
    for await (const part of timedModel(inner, patience, clock).stream(modelRequest(), { signal })) parts.push(part);
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

describe('a timed model', () => {
  it('gives the parts of its model as they are', async () => {
    const script = said('All is well.');
    const { parts, over } = startReading(script);
    await over;
    expect(parts).toEqual(script);
  });

  it('fails as no_reply where nothing comes in time, and lets go of the call', async () => {
    const { parts, over, pass, inner } = startReading([silence]);
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

  it('fails as stalled where the next part does not come in time, however long the first one took', async () => {
    let begin = (): void => {};
    const later = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const { parts, over, pass } = startReading([later, text('So '), silence]);
    await pass(999);
    begin();
    await pass(99);
    expect(parts).toEqual([text('So ')]);
    await pass(1);
    await over;
    expect(failureIn(parts)).toMatchObject([
      { stage: 'transport', code: 'stalled', message: 'The reply stopped for more than 100 ms.' },
    ]);
  });

  it('aborts its model with its own signal, and leaves no timer behind', async () => {
    const { controller, inner, over, pass } = startReading([text('So '), silence]);
    await pass(1);
    controller.abort();
    await over;
    expect(inner.open()).toBe(0);
  });

  it('is otherwise the model that it times', async () => {
    const inner = { ...partModel(said('x')), nativeTools: true, countTokens: async () => [7] };
    const timed = timedModel(inner, { firstChunkMs: 1, chunkMs: 1 }, new SimulatedClock());
    expect(timed).toMatchObject({ id: 'parts', contextWindowTokens: 128_000, nativeTools: true });
    expect(await timed.countTokens?.(['x'])).toEqual([7]);
    expect(
      timedModel(partModel(said('x')), { firstChunkMs: 1, chunkMs: 1 }, new SimulatedClock()).countTokens,
    ).toBeUndefined();
  });
});
