import { describe, expect, test } from 'vitest';
import { attemptExecutionSchema } from '../../../machines/contracts/attempt.ts';
import { emittedEventSchema } from '../../../machines/contracts/events.ts';
import {
  failedReply,
  flush,
  invalidReply,
  reply,
  SCHEMA_FAILURE,
  startAttempt,
  USAGE,
} from '../../support/attempt-machine.ts';

/** An invalid reply, a broken call, a late one, a stalled one, then a valid one. */
async function eventful() {
  const rig = startAttempt();
  await rig.end(invalidReply());
  await rig.end(failedReply());
  rig.clock.increment(100);
  rig.clock.increment(1_000);
  rig.clock.increment(200);
  rig.call().started();
  rig.clock.increment(900);
  rig.clock.increment(400);
  rig.call().started();
  await rig.end(reply());
  return rig;
}

describe('attempt state', () => {
  test('[A5] keeps the context JSON-serializable in every snapshot, and the execution at the end', async () => {
    const rig = await eventful();
    expect(rig.outcome()).toMatchObject({ ok: true, execution: { corrections: 1, transportRetries: 3 } });
    expect(rig.contexts.length).toBeGreaterThan(11);
    for (const context of rig.contexts) expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
    expect(attemptExecutionSchema.parse(rig.outcome().execution)).toEqual(rig.outcome().execution);
  });

  test('[A5] clears all state of an attempt before the next one starts', async () => {
    const rig = startAttempt();
    await rig.end(failedReply());
    rig.clock.increment(100);
    expect(rig.state()).toEqual({ calling: 'opening' });
    expect(rig.actor.getSnapshot().context).toMatchObject({ reply: null, value: null, failure: null, next: null });
    await rig.end(invalidReply());
    expect(rig.actor.getSnapshot().context).toMatchObject({ reply: null, value: null, failure: null, next: null });
  });

  test('[A11] adds up usage across failed attempts', async () => {
    const rig = startAttempt();
    await rig.end(invalidReply());
    await rig.end(failedReply());
    rig.clock.increment(100);
    await rig.end(reply({ usage: { ...USAGE, outputTokens: 6 } }));
    expect(rig.outcome().execution.usage).toEqual({
      modelCalls: 3,
      inputTokens: 30,
      outputTokens: 16,
      estimated: false,
      cost: null,
    });
  });

  test('records each attempt with its text, failure, and timestamps', async () => {
    const rig = startAttempt();
    rig.clock.increment(40);
    await rig.end(invalidReply('{"good":0}'));
    rig.clock.increment(60);
    await rig.end(reply());
    expect(rig.outcome().execution.attempts).toEqual([
      {
        attempt: 1,
        model: 0,
        text: '{"good":0}',
        failure: SCHEMA_FAILURE,
        usage: USAGE,
        startedAtMs: 0,
        durationMs: 40,
      },
      { attempt: 2, model: 0, text: '{"good":true}', failure: null, usage: USAGE, startedAtMs: 40, durationMs: 60 },
    ]);
  });
});

describe('a previous attempt', () => {
  test('[A8] is ignored once the next one is in flight', async () => {
    const rig = startAttempt();
    const [first] = rig.calls;
    rig.clock.increment(1_000);
    rig.clock.increment(100);
    expect(rig.calls).toHaveLength(2);
    first?.started();
    first?.ended(reply({ value: { good: true, from: 'the dead' } }));
    await flush();
    expect(rig.state()).toEqual({ calling: 'opening' });
    await rig.end(reply());
    expect(rig.outcome()).toMatchObject({ ok: true, value: { good: true, checked: true } });
  });

  test('[A8] is stopped before the next one starts', async () => {
    const rig = startAttempt();
    for (let retry = 0; retry < 3; retry += 1) {
      await rig.end(failedReply());
      rig.clock.increment(1_000);
      expect(rig.calls.map(({ stopped }) => stopped)).toEqual([...rig.calls.slice(1).map(() => true), false]);
    }
  });
});

describe('emitted events', () => {
  const call = (attempt: number) => ({ attemptId: 's1.yield', task: 'yield', attempt });
  const start = (attempt: number) => ({ type: 'attempt-start', ...call(attempt), model: 0 });
  const end = (attempt: number, failure: unknown) => ({
    ...call(attempt),
    type: 'attempt-end',
    failure,
    usage: USAGE,
  });

  test('[A11] reports every step in order, in journal format', async () => {
    const rig = startAttempt();
    await rig.end(invalidReply());
    await rig.end(failedReply());
    rig.clock.increment(100);
    await rig.end(reply());
    expect(rig.facts).toEqual([
      start(1),
      end(1, SCHEMA_FAILURE),
      { type: 'attempt-retry', attemptId: 's1.yield', attempt: 2, model: 0, delayMs: 0 },
      start(2),
      end(2, expect.objectContaining({ code: 'stream_cut' })),
      { type: 'attempt-retry', attemptId: 's1.yield', attempt: 3, model: 0, delayMs: 100 },
      start(3),
      end(3, null),
    ]);
    for (const fact of rig.facts) expect(emittedEventSchema.parse(fact)).toEqual(fact);
  });

  test('[A8] voids every failed attempt before the next one begins', async () => {
    const { facts } = await eventful();
    const shape = facts.map((fact) => (fact.type === 'attempt-end' ? (fact.failure?.code ?? 'good') : fact.type));
    const failed = (code: string) => ['attempt-start', code, 'attempt-retry'];
    expect(shape).toEqual([
      ...failed('invalid_reply'),
      ...failed('stream_cut'),
      ...failed('no_reply'),
      ...failed('stalled'),
      'attempt-start',
      'good',
    ]);
  });
});
