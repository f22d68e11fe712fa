import { createNoopMeter } from '@opentelemetry/api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';
import { type Measurement, memoryTelemetry } from '../../../support/telemetry.ts';

const USAGE = 'gen_ai.client.token.usage';
const DURATION = 'gen_ai.client.operation.duration';

const sumOf = (rows: readonly Measurement[], type: string): number =>
  rows
    .filter(({ metric, attributes }) => metric === USAGE && attributes['gen_ai.token.type'] === type)
    .reduce((sum, row) => sum + row.sum, 0);

const durations = (rows: readonly Measurement[], operation: string): readonly Measurement[] =>
  rows.filter(({ metric, attributes }) => metric === DURATION && attributes['gen_ai.operation.name'] === operation);

describe('the measurements of a run', () => {
  it('[A11] add up to the usage of its answer, including failed and aborted calls', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { run } = await startRandomRun(random);
        const { usage } = (await run.answer).metadata;
        const telemetry = memoryTelemetry();
        await traceRun(run.journal, telemetry.options);
        const rows = await telemetry.measured();
        expect([sumOf(rows, 'input'), sumOf(rows, 'output')]).toEqual([usage.inputTokens, usage.outputTokens]);
        const calls = durations(rows, 'chat').reduce((sum, { count }) => sum + count, 0);
        expect(calls).toBe(usage.modelCalls);
      }),
      { numRuns: sampleSize('measured runs', 30, 500) },
    );
  });

  it('are histograms with the units and boundaries of the conventions, by operation, provider, and model', async () => {
    const { run } = startScripted();
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, telemetry.options);
    const rows = await telemetry.measured();
    expect(new Set(rows.map(({ metric, unit }) => `${metric} ${unit}`))).toEqual(
      new Set([`${USAGE} {token}`, `${DURATION} s`]),
    );
    const input = rows.find(({ attributes }) => attributes['gen_ai.token.type'] === 'input');
    expect(input).toMatchObject({
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'postchain',
        'gen_ai.request.model': 'scripted',
        'gen_ai.token.type': 'input',
      },
      count: 7,
    });
    expect(input?.boundaries.slice(0, 4)).toEqual([1, 4, 16, 64]);
    expect(input?.boundaries.at(-1)).toBe(67_108_864);
    expect(durations(rows, 'invoke_agent')).toHaveLength(6);
    expect(durations(rows, 'invoke_workflow')).toMatchObject([{ count: 1 }]);
    expect(durations(rows, 'chat')[0]?.boundaries.at(-1)).toBe(81.92);
  });

  it('record durations in seconds and error codes', async () => {
    const busy = { failure: { code: 'rate_limited', retryAfterMs: 5000 } };
    const { run, clock } = startScripted({ intention: (call: number) => (call === 1 ? busy : replies.intention) });
    await settle();
    clock.increment(5000);
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, telemetry.options);
    const rows = await telemetry.measured();
    expect(durations(rows, 'invoke_workflow')).toMatchObject([{ sum: 5 }]);
    expect(durations(rows, 'chat').map(({ attributes, count }) => [attributes['error.type'], count])).toEqual([
      [undefined, 7],
      ['rate_limited', 1],
    ]);
  });

  it('are not made with a no-op meter', async () => {
    const { run } = startScripted();
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, { ...telemetry.options, meter: createNoopMeter() });
    expect(await telemetry.measured()).toEqual([]);
    expect(telemetry.spans()).toHaveLength(14);
  });
});
