import { AsyncLocalStorage } from 'node:async_hooks';
import { context, SpanKind, trace } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCapability } from '../../../src/capabilities/capability.ts';
import { always, scriptedModel } from '../../../src/models/scripted.ts';
import { traceRun } from '../../../src/otel/trace-run.ts';
import { createPostChain } from '../../../src/runtime/create-postchain.ts';
import { replies } from '../../../src/testing/replies.ts';
import { everyTask } from '../../support/every-task.ts';
import { unsureAnswer } from '../../support/replies.ts';
import { type Plan, settle, startScripted } from '../../support/run-chain.ts';
import { eventsOf, memoryTelemetry, millis, spanNamed, tableOf } from '../../support/telemetry.ts';

/** Plays a scripted run to its end, a second at a time, and traces what was recorded. */
async function traced(plan: Plan, options: Parameters<typeof startScripted>[1] = {}, how = {}) {
  const { run, clock } = startScripted(plan, options, how);
  while (run.actor.getSnapshot().status === 'active') {
    const before = run.journal.length;
    await settle(1);
    if (run.journal.length === before) clock.increment(1000);
  }
  const telemetry = memoryTelemetry();
  await traceRun(run.journal, telemetry.options);
  return { run, telemetry, spans: telemetry.spans() };
}

const busy = { failure: { code: 'rate_limited', retryAfterMs: 5000, status: 429 } };
const call = (capability: string, given = '{}') => ({ ...replies.action, call: { capability, arguments: given } });

describe('a run as spans', () => {
  it('is a workflow of phases, with model calls under their phase and those of synthesis under the run', async () => {
    const { spans } = await traced({});
    expect(tableOf(spans)).toBe(
      [
        'invoke_workflow postChain 0–0',
        '  invoke_agent action 0–0',
        '    chat scripted 0–0',
        '  invoke_agent experience 0–0',
        '    chat scripted 0–0',
        '  invoke_agent intention 0–0',
        '    chat scripted 0–0',
        '  invoke_agent observation 0–0',
        '    chat scripted 0–0',
        '  invoke_agent understanding 0–0',
        '    chat scripted 0–0',
        '  invoke_agent yield 0–0',
        '    chat scripted 0–0',
        '  chat scripted 0–0',
      ].join('\n'),
    );
  });

  it('waits before a retry between two calls, and says why, how long, and on which status', async () => {
    const { spans } = await traced({ intention: (number: number) => (number === 1 ? busy : replies.intention) });
    expect(tableOf(spans.slice(5, 8))).toBe(
      ['invoke_agent intention 0–5000', '  chat scripted 0–0 ! rate_limited', '  chat scripted 5000–5000'].join('\n'),
    );
    const [intention, failed, again] = spans.slice(5, 8);
    expect(eventsOf(intention)).toEqual([
      {
        name: 'postchain.retry',
        'gen_ai.provider.name': 'postchain',
        'gen_ai.request.model': 'scripted',
        'postchain.attempt': 2,
        'postchain.backoff_ms': 5000,
      },
    ]);
    expect(failed?.attributes).toMatchObject({
      'http.response.status_code': 429,
      'postchain.attempt': 1,
      'postchain.failure.stage': 'transport',
    });
    expect(again?.attributes).toMatchObject({ 'postchain.attempt': 2, 'postchain.task': 'intention' });
  });

  it('retries the writing of the answer under the run', async () => {
    const { spans } = await traced({ synthesis: (number: number) => (number === 1 ? busy : replies.synthesis) });
    expect(spans[0]?.events.map(({ name }) => name)).toEqual(['postchain.retry']);
    expect(tableOf(spans).split('\n').slice(-2)).toEqual([
      '  chat scripted 0–0 ! rate_limited',
      '  chat scripted 5000–5000',
    ]);
  });

  it('names the model that took over', async () => {
    const model = scriptedModel(
      { intention: [{ failure: { code: 'unauthorized', retryable: false } }] },
      { id: 'openai:gpt-4.1', otherwise: replies },
    );
    const second = scriptedModel({}, { id: 'llama3:8b', otherwise: replies });
    const run = createPostChain({ model, fallbackModels: [second] }).run({ request: 'Is it so?' });
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, { ...telemetry.options, provider: 'ollama' });
    const calls = telemetry.spans().filter(({ attributes }) => attributes['postchain.task'] === 'intention');
    expect(calls.map(({ name, attributes }) => [name, attributes['gen_ai.provider.name']])).toEqual([
      ['chat gpt-4.1', 'openai'],
      ['chat llama3:8b', 'ollama'],
    ]);
  });

  it('has the capabilities that ran under Action, between the calls that asked for them', async () => {
    const work = defineCapability({
      name: 'fail',
      description: 'Fails.',
      arguments: z.object({}),
      execute: () => Promise.reject(new Error('no')),
    });
    const options = { ...everyTask.options, capabilities: [...everyTask.options.capabilities, work] };
    const next = { capability: 'fail', arguments: '{}' };
    const { spans } = await traced(
      {
        action: call('work'),
        continuation: (number: number) => ({ done: number > 1, finalOutput: null, next: number > 1 ? null : next }),
      },
      options,
    );
    expect(tableOf(spans.slice(1, 7))).toBe(
      [
        'invoke_agent action 0–0',
        '  chat scripted 0–0',
        '  execute_tool work 0–0',
        '  chat scripted 0–0',
        '  execute_tool fail 0–0 ! threw',
        '  chat scripted 0–0',
      ].join('\n'),
    );
    expect(eventsOf(spans[1]).at(-1)).toEqual({
      name: 'postchain.capability_stop',
      'postchain.reason': 'done',
      'postchain.runs': 2,
      'postchain.failed': 1,
    });
  });

  it('has a wish that could not be run as a run that took no time, without the name that a model made up', async () => {
    const { spans } = await traced({ action: call('rm -rf, said the model') }, everyTask.options);
    expect(tableOf(spans.slice(1, 4))).toBe(
      ['invoke_agent action 0–0', '  chat scripted 0–0', '  execute_tool _OTHER 0–0 ! unknown_capability'].join('\n'),
    );
  });

  it('shows a phase that failed, what was done about it, and why the answer is degraded', async () => {
    const { spans } = await traced({ intention: { text: 'no JSON' } }, { limits: { maxCorrections: 0 } });
    const table = tableOf(spans).split('\n');
    expect(table[0]).toBe('invoke_workflow postChain 0–0 ! incomplete_state');
    expect(table.filter((line) => line.includes('intention'))).toEqual([
      '  invoke_agent intention 0–0 ! no_json',
      '  invoke_agent intention 0–0 ! no_json',
    ]);
    expect(eventsOf(spans[0]).map((event) => event['postchain.recovery'])).toEqual(['again', 'skip']);
  });

  it('ends what a cancelled run broke off; the user’s own wish is no error of the run', async () => {
    const { run, clock } = startScripted({ observation: { hang: true, text: '{"a' } });
    await settle();
    clock.increment(3000);
    run.cancel('enough');
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, telemetry.options);
    const spans = telemetry.spans();
    expect(tableOf(spans.slice(-2))).toBe(
      ['invoke_agent observation 0–3000 ! broken_off', '  chat scripted 0–3000 ! broken_off'].join('\n'),
    );
    expect(tableOf(spans.slice(0, 1))).toBe('invoke_workflow postChain 0–3000');
    expect(spans[0]?.attributes).toMatchObject({
      'postchain.status': 'cancelled',
      'postchain.degradation': 'cancelled',
    });
    expect(eventsOf(spans[0])).toContainEqual({ name: 'postchain.delivery', 'postchain.event': 'run.cancelled' });
  });

  it('[Y8] tells every rule that was asked, what it saw, and the decision, at the end of Yield', async () => {
    const { spans } = await traced({ yield: { ...replies.yield, confidence: 0.95 } });
    expect(eventsOf(spanNamed(spans, 'invoke_agent yield'))).toEqual([
      {
        name: 'postchain.guard',
        'postchain.guard': 'cycleLimitReached',
        'postchain.holds': false,
        'postchain.input.completedCycles': 1,
        'postchain.input.maxCycles': 5,
      },
      expect.objectContaining({ 'postchain.guard': 'budgetExhausted', 'postchain.holds': false }),
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

  it('keeps Yield open while the user is asked where to go', async () => {
    const { run, clock } = startScripted({ yield: (number: number) => unsureAnswer(number) }, {}, { mode: 'manual' });
    await settle(60);
    clock.increment(7000);
    run.send({ type: 'run.directed', phase: 'yield' });
    await settle(20);
    clock.increment(2000);
    run.send({ type: 'run.finished' });
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, telemetry.options);
    const lines = tableOf(telemetry.spans()).split('\n');
    expect(lines.filter((line) => line.includes('yield'))).toEqual([
      '  invoke_agent yield 0–7000',
      '  invoke_agent yield 7000–9000',
    ]);
  });

  it('carries the names of the conventions', async () => {
    const model = scriptedModel(
      {},
      { id: 'openai:gpt-4.1', otherwise: replies, usage: { inputTokens: 90, outputTokens: 8, estimated: false } },
    );
    const run = createPostChain({ model, newId: () => 'run-7' }).run({ request: 'Is it so?', sessionId: 'u42' });
    await run.answer;
    const telemetry = memoryTelemetry();
    await traceRun(run.journal, { ...telemetry.options, workflow: 'answers' });
    const [root, action, chat] = telemetry.spans();
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
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
        'postchain.prompt.version': expect.any(Number),
        'postchain.task': 'action',
        'postchain.attempt': 1,
        'postchain.usage.estimated': false,
      },
    ]);
  });

  it('says the time to the first text of a reply, in seconds', async () => {
    const { run } = startScripted();
    await run.answer;
    const journal = run.journal.map((entry) => ({ ...entry, atMs: entry.seq * 100 }));
    const at = (type: string): number => journal.find((entry) => entry.type === type)?.atMs ?? Number.NaN;
    const telemetry = memoryTelemetry();
    await traceRun(journal, telemetry.options);
    const chat = spanNamed(telemetry.spans(), 'chat scripted');
    const began = Math.max(at('attempt-start'), at('phase-start'));
    expect(chat?.attributes['gen_ai.response.time_to_first_chunk']).toBeCloseTo((at('text-delta') - began) / 1000, 6);
  });
});

describe('the spans of a run', () => {
  it('stand under the span that was active when they were asked for', async () => {
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

  it('go to the global provider where nothing else is said, in the name of the package and of the conventions', async () => {
    const telemetry = memoryTelemetry();
    trace.setGlobalTracerProvider(telemetry.tracers);
    const run = createPostChain({ model: scriptedModel({ action: [always(replies.action)] }, { otherwise: replies }) });
    await traceRun(run.run({ request: 'Is it so?' }).events);
    trace.disable();
    const [root] = telemetry.spans();
    expect(root?.instrumentationScope).toMatchObject({
      name: 'postchain',
      schemaUrl: 'https://opentelemetry.io/schemas/1.41.1',
    });
    expect(Math.abs(millis(root?.startTime ?? [0, 0]) - Date.now())).toBeLessThan(60_000);
  });
});
