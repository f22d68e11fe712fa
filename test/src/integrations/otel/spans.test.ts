import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { LONG_HISTORY } from '../../../support/journal-files.ts';
import {
  capabilityNamed,
  everyTask,
  ONE_CALL_PER_PHASE,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';
import { eventsOf, spansOf, tableOf, traceScripted } from '../../../support/telemetry.ts';

const busy = { failure: { code: 'rate_limited', retryAfterMs: 5000, status: 429 } };
const call = (capability: string, given = '{}') => ({ ...replies.action, calls: [{ capability, arguments: given }] });

describe('a run as spans', () => {
  it('is a workflow of phases, with model calls below their phase and those of the synthesis below the run', async () => {
    const { spans } = await traceScripted({});
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

  it('puts a call that starts early below the run, and shows the call of a brief reply once', async () => {
    const thorough = await traceScripted({}, { profile: 'thorough' });
    const rows = tableOf(thorough.spans).split('\n');
    expect(rows.slice(5, 9)).toEqual([
      '  invoke_agent intention 0–0',
      '    chat scripted 0–0',
      '  chat scripted 0–0',
      '  invoke_agent observation 0–0',
    ]);
    const early = thorough.spans.filter(({ attributes }) => attributes['postchain.early'] === true);
    expect(early.map(({ attributes }) => attributes['postchain.task'])).toEqual(['observation']);
    const lean = await traceScripted({}, { profile: 'lean' });
    const calls = lean.spans.filter(({ name }) => name.startsWith('chat'));
    expect(calls.map(({ attributes }) => attributes['postchain.phases'])).toEqual([
      ['experience', 'intention', 'observation', 'understanding', 'yield'],
    ]);
  });

  it('ends a call that starts early when the run is canceled', async () => {
    const hangs = { hang: true } as const;
    const { run, clock } = startScripted({ intention: hangs, observation: hangs }, { profile: 'thorough' });
    await settle();
    clock.increment(10);
    run.cancel();
    await run.answer;
    expect(tableOf(await spansOf(run.entries)).match(/chat scripted 0–10 ! aborted/gu)).toHaveLength(2);
  });

  it('records a retry with its reason, delay and status', async () => {
    const { spans } = await traceScripted({ intention: (number: number) => (number === 1 ? busy : replies.intention) });
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

  it('names the fallback model', async () => {
    const model = scriptedModel(
      { intention: [{ failure: { code: 'unauthorized', retryable: false } }] },
      { id: 'openai:gpt-4.1', otherwise: replies },
    );
    const second = scriptedModel({}, { id: 'llama3:8b', otherwise: replies });
    const run = createPostChain({ profile: ONE_CALL_PER_PHASE, model, fallbackModels: [second] }).run({
      request: 'Is it so?',
    });
    await run.answer;
    const calls = (await spansOf(run.entries, { provider: 'ollama' })).filter(
      ({ attributes }) => attributes['postchain.task'] === 'intention',
    );
    expect(calls.map(({ name, attributes }) => [name, attributes['gen_ai.provider.name']])).toEqual([
      ['chat gpt-4.1', 'openai'],
      ['chat llama3:8b', 'ollama'],
    ]);
  });

  it('has capability runs below Action, between the model calls that requested them', async () => {
    const work = capabilityNamed('fail', () => Promise.reject(new Error('no')));
    const options = { ...everyTask.options, capabilities: [...everyTask.options.capabilities, work] };
    const next = { capability: 'fail', arguments: '{}' };
    const { spans } = await traceScripted(
      {
        action: call('work'),
        continuation: (number: number) => ({ done: number > 1, finalOutput: null, next: number > 1 ? [] : [next] }),
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
  });

  it('has a rejected capability call as a span without duration and without the name invented by the model', async () => {
    const { spans } = await traceScripted({ action: call('rm -rf, said the model') }, everyTask.options);
    expect(tableOf(spans.slice(1, 4))).toBe(
      ['invoke_agent action 0–0', '  chat scripted 0–0', '  execute_tool _OTHER 0–0 ! unknown_capability'].join('\n'),
    );
  });

  it('records a failed phase, the recovery, and why the answer is degraded', async () => {
    const { spans } = await traceScripted({ intention: { text: '{"goal":' } }, { limits: { maxCorrections: 0 } });
    const table = tableOf(spans).split('\n');
    expect(table[0]).toBe('invoke_workflow postChain 0–0 ! incomplete_state');
    expect(table.filter((line) => line.includes('intention'))).toEqual([
      '  invoke_agent intention 0–0 ! no_json',
      '  invoke_agent intention 0–0 ! no_json',
    ]);
    expect(eventsOf(spans[0]).map((event) => event['postchain.recovery'])).toEqual(['repeat', 'skip']);
  });

  it('keeps Yield open while it waits for a direction', async () => {
    const { run, clock } = startScripted({ yield: (number: number) => unsureAnswer(number) }, {}, { mode: 'manual' });
    await settle(60);
    clock.increment(7000);
    sendAnswer(run, { type: 'run.directed', phase: 'yield' });
    await settle(20);
    clock.increment(2000);
    run.send({ type: 'run.finished' });
    await run.answer;
    const lines = tableOf(await spansOf(run.entries)).split('\n');
    expect(lines.filter((line) => line.includes('yield'))).toEqual([
      '  invoke_agent yield 0–7000',
      '  invoke_agent yield 7000–9000',
    ]);
  });
});

const hang = { hang: true } as const;

async function linesOf(run: ReturnType<typeof startScripted>['run'], about: string): Promise<readonly string[]> {
  const spans = await spansOf(run.entries);
  const from = spans.findIndex(({ name }) => name === about);
  return tableOf(spans).split('\n').slice(from).slice(0, 3);
}

describe('aborted spans', () => {
  it('end when the chart leaves the phase, not when the session is stored', async () => {
    const sessions = { recall: () => [], append: () => new Promise<void>(() => {}) };
    const { run, clock } = startScripted({ observation: hang }, { sessions }, { sessionId: 'u42' });
    await settle();
    clock.increment(3000);
    run.cancel();
    await settle();
    clock.increment(250);
    await run.answer;
    expect(await linesOf(run, 'invoke_agent observation')).toEqual([
      '  invoke_agent observation 0–3000 ! aborted',
      '    chat scripted 0–3000 ! aborted',
    ]);
    expect(await linesOf(run, 'invoke_workflow postChain')).toContain('invoke_workflow postChain 0–3250');
  });

  it('end before their phase, if the phase continues without them', async () => {
    const limits = { phaseMs: 10_000, consentMs: 60_000, firstChunkMs: 50_000 };
    const { run, clock } = startScripted({ summary: hang }, { limits }, { history: LONG_HISTORY });
    await settle();
    clock.increment(10_000);
    await settle();
    clock.increment(60_000);
    await run.answer;
    expect(await linesOf(run, 'invoke_agent understanding')).toEqual([
      '  invoke_agent understanding 0–70000',
      '    chat scripted 0–0',
      '    chat scripted 0–10000 ! aborted',
    ]);
  });

  it('include a capability of a run that was stopped from outside', async () => {
    const wait = capabilityNamed('wait', () => new Promise(() => {}));
    const call = { capability: 'wait', arguments: '{}' };
    const { run, clock } = startScripted({ action: { ...replies.action, calls: [call] } }, { capabilities: [wait] });
    await settle();
    clock.increment(4000);
    run.ref.stop();
    await run.answer;
    expect(await linesOf(run, 'invoke_agent action')).toEqual([
      '  invoke_agent action 0–4000',
      '    chat scripted 0–0',
      '    execute_tool wait 0–4000 ! aborted',
    ]);
  });

  it('do not include a capability that timed out: that is a result', async () => {
    const wait = capabilityNamed('wait', () => new Promise(() => {}), { timeoutMs: 4000 });
    const call = { capability: 'wait', arguments: '{}' };
    const { run, clock } = startScripted({ action: { ...replies.action, calls: [call] } }, { capabilities: [wait] });
    await settle();
    clock.increment(4000);
    await run.answer;
    expect((await linesOf(run, 'invoke_agent action')).at(-1)).toBe('    execute_tool wait 0–4000 ! timed_out');
  });
});
