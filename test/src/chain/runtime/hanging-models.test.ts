import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { createPostChain, type PostChainOptions } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, ONE_CALL_PER_PHASE, unsureAnswer } from '../../../support/run-chain.ts';
import { ExternalTimers, runToEnd, TestClock } from '../../../support/simulated-clock.ts';

/** A model that hangs in some of its calls, counted from 1. */
function hanging(id: string, isHanging: (call: number) => boolean = () => true) {
  let calls = 0;
  return scriptedModel(
    ({ task }) => {
      calls += 1;
      return isHanging(calls) ? { hang: true } : replies[task as keyof typeof replies];
    },
    { id },
  );
}

/** A model that sends one token every 300 ms for ten seconds. */
function slow(clock: TestClock): ChatModel {
  const timers = new ExternalTimers(clock);
  return {
    id: 'slow',
    contextWindowTokens: 128_000,
    async *stream(_, { signal }) {
      for (let sent = 0; sent < 33 && !signal.aborted; sent += 1) {
        await timers.wait(300, signal);
        yield { type: 'text-delta', text: ' token' };
      }
      yield { type: 'finish', reason: 'stop', usage: null };
    },
  };
}

async function runAll(options: PostChainOptions & { readonly model: ChatModel }, clock = new TestClock()) {
  const run = createPostChain({ profile: ONE_CALL_PER_PHASE, ...options, clock }).run({ request: 'Is it so?' });
  let isActive = true;
  void run.answer.then(() => {
    isActive = false;
  });
  await runToEnd(
    () => isActive,
    clock,
    () => run.entries.length,
  );
  return { run, answer: await run.answer, tookMs: clock.now() };
}

describe('a model that hangs', () => {
  it('[C8] ends the default run degraded within 90 seconds', async () => {
    const model = hanging('silent');
    const { answer, tookMs } = await runAll({ model });
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'model_unavailable' } });
    expect(answer.notes).toContain('No reply began within 40000 ms.');
    expect(model.calls).toHaveLength(2);
    expect(tookMs).toBeLessThanOrEqual(90_000);
  });

  it('[C4] is waited for twice, then its fallback replies at once', async () => {
    const [first, second] = [hanging('silent'), scriptedModel({}, { id: 'second', otherwise: replies })];
    const { run, answer, tookMs } = await runAll({ model: first, fallbackModels: [second] });
    expect(answer.status).toBe('completed');
    expect([first.calls.length, second.calls.length]).toEqual([2, 7]);
    expect(tookMs).toBeLessThanOrEqual(90_000);
    expect(entriesOf(run, 'model-status')).toMatchObject([{ model: 0, change: 'unavailable' }]);
  });

  it('[C4] is probed once after eight attempts without it, and used again if it replies', async () => {
    const first = hanging('first', (call) => call <= 3);
    const second = scriptedModel(
      ({ task }, call) => (task === 'yield' ? unsureAnswer(call) : replies[task as keyof typeof replies]),
      { id: 'second' },
    );
    const { run, answer } = await runAll({ model: first, fallbackModels: [second], limits: { maxCycles: 5 } });
    expect(answer.metadata.cycles).toBeGreaterThan(2);
    const models = entriesOf(run, 'attempt-start').map(({ model }) => model);
    expect(models.slice(0, 12)).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    expect(models.at(-1)).toBe(0);
    expect(entriesOf(run, 'model-status').at(-1)).toMatchObject({ model: 0, change: 'available' });
  });

  it('[A13] also counts as hanging if its replies stop in the middle', async () => {
    const model = scriptedModel(() => ({ hang: true, text: '{"response": ' }), {});
    const { answer, tookMs } = await runAll({ model });
    expect(answer.metadata).toMatchObject({ reason: 'model_unavailable' });
    expect(model.calls).toHaveLength(2);
    expect(tookMs).toBeLessThanOrEqual(90_000);
  });

  it('[C8] is found within its phase if the phase is shorter than the wait', async () => {
    const model = hanging('silent');
    const { answer } = await runAll({ model, limits: { phaseMs: 30_000 } });
    expect(answer.metadata).toMatchObject({ reason: 'model_unavailable' });
    expect(model.calls).toHaveLength(2);
  });

  it('[C8] is not confused with one whose replies outlast the phase', async () => {
    const clock = new TestClock();
    const { run, answer } = await runAll({ model: slow(clock), limits: { phaseMs: 1_000 } }, clock);
    const { failures } = answer.metadata;
    expect(new Set(failures.map(({ failure }) => failure.code))).toEqual(new Set(['phase_deadline']));
    expect(entriesOf(run, 'model-status').map(({ change }) => change)).not.toContain('unavailable');
    expect(replay(JSON.parse(JSON.stringify(run.entries))).divergence).toBeNull();
  });
});
