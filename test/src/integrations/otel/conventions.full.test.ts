import { AsyncLocalStorage } from 'node:async_hooks';
import { context, SpanKind, trace } from '@opentelemetry/api';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { traceRun } from '../../../../src/integrations/otel/trace-run.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { randomRunArbitrary, startRandomRun } from '../../../support/random-runs.ts';
import { settle, startScripted } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';
import {
  eventsOf,
  type Measurement,
  memoryTelemetry,
  millis,
  spanNamed,
  spansOf,
  traceScripted,
} from '../../../support/telemetry.ts';

describe('the spans of a run', () => {
  it('[Y8] record every evaluated rule, the values it saw, and the decision, at the end of Yield', async () => {
    const { spans } = await traceScripted({ yield: { ...replies.yield, confidence: 0.95 } });
    expect(eventsOf(spanNamed(spans, 'invoke_agent yield'))).toEqual([
      expect.objectContaining({ 'postchain.guard': 'gradingWanted', 'postchain.holds': false }),
      {
        name: 'postchain.guard',
        'postchain.guard': 'cycleLimitReached',
        'postchain.holds': false,
        'postchain.input.completedCycles': 1,
        'postchain.input.maxCycles': 5,
      },
      expect.objectContaining({ 'postchain.guard': 'budgetExhausted', 'postchain.holds': false }),
      expect.objectContaining({ 'postchain.guard': 'comparisonWanted', 'postchain.holds': false }),
      expect.objectContaining({ 'postchain.guard': 'directionWanted', 'postchain.holds': false }),
      expect.objectContaining({ 'postchain.guard': 'confidenceReached', 'postchain.holds': true }),
      {
        name: 'postchain.decision',
        'postchain.rule': 'confidenceReached',
        'postchain.complete': true,
        'postchain.cycle': 1,
        'postchain.input.confidence': 0.95,
        'postchain.input.above': 0.9,
        'postchain.input.modelConfidence': 0.95,
      },
    ]);
  });

  it('use the names of the conventions', async () => {
    const usage = {
      inputTokens: 90,
      outputTokens: 8,
      cachedInputTokens: 60,
      cacheWriteTokens: 20,
      reasoningTokens: 5,
      estimated: false,
    };
    const model = scriptedModel({}, { id: 'openai:gpt-4.1', otherwise: replies, usage });
    const run = createPostChain({ model, profile: 'thorough', newId: () => 'run-7' }).run({
      request: 'Is it so?',
      sessionId: 'u42',
    });
    await run.answer;
    const [root, action, chat] = await spansOf(run.entries, { workflow: 'answers' });
    expect([root?.name, root?.kind, root?.attributes]).toMatchObject([
      'invoke_workflow answers',
      SpanKind.INTERNAL,
      {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.workflow.name': 'answers',
        'gen_ai.conversation.id': 'u42',
        'postchain.run.id': 'run-7',
        'postchain.status': 'completed',
        'postchain.cycles': 1,
        'postchain.usage.model_calls': 7,
        'postchain.usage.input_tokens': 630,
        'postchain.usage.output_tokens': 56,
      },
    ]);
    expect([action?.name, action?.kind, action?.attributes]).toEqual([
      'invoke_agent action',
      SpanKind.INTERNAL,
      {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.provider.name': 'postchain',
        'gen_ai.agent.name': 'action',
        'gen_ai.conversation.id': 'u42',
        'postchain.phase': 'action',
        'postchain.cycle': 1,
        'postchain.step': 1,
      },
    ]);
    expect([chat?.name, chat?.kind, chat?.attributes]).toEqual([
      'chat gpt-4.1',
      SpanKind.CLIENT,
      {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4.1',
        'gen_ai.request.stream': true,
        'gen_ai.conversation.id': 'u42',
        'gen_ai.prompt.name': 'action',
        'gen_ai.usage.input_tokens': 90,
        'gen_ai.usage.output_tokens': 8,
        'gen_ai.usage.cache_read.input_tokens': 60,
        'gen_ai.usage.cache_creation.input_tokens': 20,
        'gen_ai.usage.reasoning.output_tokens': 5,
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
        'postchain.prompt.version': expect.any(Number),
        'postchain.task': 'action',
        'postchain.attempt': 1,
        'postchain.usage.estimated': false,
      },
    ]);
  });

  it('record the time to the first text of a reply, in seconds', async () => {
    const { run } = startScripted();
    await run.answer;
    const journal = run.entries.map((entry) => ({ ...entry, atMs: entry.seq * 100 }));
    const at = (type: string): number => journal.find((entry) => entry.type === type)?.atMs ?? Number.NaN;
    const chat = spanNamed(await spansOf(journal), 'chat scripted');
    const began = Math.max(at('attempt-start'), at('phase-start'));
    expect(chat?.attributes['gen_ai.response.time_to_first_chunk']).toBeCloseTo((at('text-delta') - began) / 1000, 6);
  });

  it('are children of the span that is active when traceRun is called', async () => {
    const telemetry = memoryTelemetry();
    const store = new AsyncLocalStorage<ReturnType<typeof context.active>>();
    const { ROOT_CONTEXT } = await import('@opentelemetry/api');
    context.setGlobalContextManager({
      active: () => store.getStore() ?? ROOT_CONTEXT,
      with: (active, act, self, ...given) => store.run(active, () => act.call(self, ...given)),
      bind: (_, target) => target,
      enable: () => context as never,
      disable: () => context as never,
    });
    const run = createPostChain({ model: scriptedModel({}, { otherwise: replies }) }).run({ request: 'Is it so?' });
    const outer = telemetry.options.tracer.startSpan('GET /answer');
    await context.with(trace.setSpan(context.active(), outer), () => traceRun(run.events, telemetry.options));
    outer.end();
    context.disable();
    const [first, second] = telemetry.spans();
    expect([first?.name, second?.name]).toEqual(['GET /answer', 'invoke_workflow postChain']);
    expect(second?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
  });

  it('go to the global provider by default, with the package’s scope and the schema URL', async () => {
    const telemetry = memoryTelemetry();
    trace.setGlobalTracerProvider(telemetry.tracers);
    const chain = createPostChain({
      model: scriptedModel({ action: [always(replies.action)] }, { otherwise: replies }),
    });
    const run = chain.run({ request: 'Is it so?' });
    await traceRun(run.events);
    trace.disable();
    const [root] = telemetry.spans();
    expect(root?.instrumentationScope).toMatchObject({
      name: 'postchain',
      schemaUrl: 'https://opentelemetry.io/schemas/1.41.1',
    });
    const [start] = run.entries;
    const startedAt = start?.type === 'start' ? Date.parse(start.startedAt) : null;
    expect(Math.floor(millis(root?.startTime ?? [0, 0]))).toBe(startedAt);
  });
});

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
        await traceRun(run.entries, telemetry.options);
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
    await traceRun(run.entries, telemetry.options);
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
    await traceRun(run.entries, telemetry.options);
    const rows = await telemetry.measured();
    expect(durations(rows, 'invoke_workflow')).toMatchObject([{ sum: 5 }]);
    expect(durations(rows, 'chat').map(({ attributes, count }) => [attributes['error.type'], count])).toEqual([
      [undefined, 7],
      ['rate_limited', 1],
    ]);
  });
});
