import { describe, expect, it, test } from 'vitest';
import { failedReply, flush, invalidReply, reply, startAttempt } from '../../support/attempt-machine.ts';

/** The longest delay that a platform timer supports; a longer one fires immediately. */
const MAX_TIMER_MS = 2_147_483_647;

describe('a call with a transport failure', () => {
  test('[A3] is retried after exponentially growing delays, never early and never above the maximum', async () => {
    const rig = startAttempt({ policy: { maxTransportRetries: 6, backoffBaseMs: 100, backoffMaxMs: 1_000 } });
    for (const [index, waitMs] of [100, 200, 400, 800, 1_000, 1_000].entries()) {
      await rig.end(failedReply());
      expect(rig.state()).toBe('backingOff');
      rig.clock.increment(waitMs - 1);
      await flush();
      expect(rig.calls).toHaveLength(index + 1);
      rig.clock.increment(1);
      expect(rig.calls).toHaveLength(index + 2);
    }
    await rig.end(failedReply());
    expect(rig.outcome()).toMatchObject({ ok: false, failure: { stage: 'transport' } });
  });

  test.each([0, 1, 3])('[A4] with %i transport retries, makes one call more than that', async (maxTransportRetries) => {
    const rig = startAttempt({ policy: { maxTransportRetries } });
    for (let call = 0; call <= maxTransportRetries; call += 1) {
      await rig.end(failedReply());
      rig.clock.increment(10_000);
    }
    expect(rig.calls).toHaveLength(maxTransportRetries + 1);
    expect(rig.outcome()).toMatchObject({ ok: false, execution: { transportRetries: maxTransportRetries } });
  });

  test('[A4] counts corrections and transport retries separately', async () => {
    const rig = startAttempt({ policy: { maxCorrections: 1, maxTransportRetries: 1 } });
    await rig.end(invalidReply());
    await rig.end(failedReply());
    rig.clock.increment(100);
    expect(rig.calls).toHaveLength(3);
    await rig.end(invalidReply());
    expect(rig.outcome()).toMatchObject({ ok: false, execution: { corrections: 1, transportRetries: 1 } });
    expect(rig.calls).toHaveLength(3);
  });

  test.each([0, 70, 5_000])(
    '[A13] prefers a Retry-After of %i ms to the backoff, even above the maximum',
    async (retryAfterMs) => {
      const rig = startAttempt({ policy: { backoffBaseMs: 100, backoffMaxMs: 200 } });
      await rig.end(failedReply({ code: 'rate_limited', status: 429, retryAfterMs }));
      if (retryAfterMs > 0) {
        rig.clock.increment(retryAfterMs - 1);
        expect(rig.calls).toHaveLength(1);
        rig.clock.increment(1);
      }
      expect(rig.calls).toHaveLength(2);
    },
  );

  it('[A13] waits for a Retry-After just below the timer limit and stops retrying for one above it', async () => {
    const asked = (retryAfterMs: number) => failedReply({ code: 'rate_limited', status: 429, retryAfterMs });
    const policy = { totalMs: MAX_TIMER_MS };
    const patient = startAttempt({ policy });
    await patient.end(asked(MAX_TIMER_MS - 10_000));
    expect(patient.actor.getSnapshot().context.next?.waitMs).toBe(MAX_TIMER_MS - 10_000);
    patient.clock.increment(MAX_TIMER_MS - 10_001);
    expect(patient.calls).toHaveLength(1);
    patient.clock.increment(1);
    expect(patient.calls).toHaveLength(2);

    const asking = startAttempt({ policy });
    await asking.end(asked(30 * 86_400_000));
    expect(asking.calls).toHaveLength(1);
    expect(asking.outcome()).toMatchObject({ ok: false, failure: { code: 'rate_limited' } });
  });

  test.each([
    [401, 'unauthorized'],
    [400, 'bad_request'],
  ])('[A13] does not retry status %i', async (status, code) => {
    const rig = startAttempt();
    await rig.end(failedReply({ status, code, retryable: false }));
    rig.clock.increment(1_000_000);
    expect(rig.calls).toHaveLength(1);
    expect(rig.outcome()).toMatchObject({ ok: false, failure: { status, code } });
  });
});

describe('a call without a first chunk', () => {
  test('[A13] times out exactly at the first-chunk deadline and is retried as a transport failure', async () => {
    const rig = startAttempt({ policy: { firstChunkMs: 1_000 } });
    rig.clock.increment(999);
    expect(rig.state()).toEqual({ calling: 'opening' });
    rig.clock.increment(1);
    expect(rig.state()).toBe('backingOff');
    expect(rig.calls[0]?.stopped).toBe(true);
    rig.clock.increment(100);
    await rig.end(reply());
    const { execution } = rig.outcome();
    expect(execution).toMatchObject({ transportRetries: 1, corrections: 0 });
    expect(execution.attempts[0]).toMatchObject({
      failure: { stage: 'transport', code: 'no_reply' },
      startedAtMs: null,
      durationMs: 1_000,
    });
  });

  test('[A13] gets a new first-chunk deadline on the second call', async () => {
    const rig = startAttempt({ policy: { firstChunkMs: 1_000, backoffBaseMs: 100 } });
    rig.clock.increment(1_000);
    rig.clock.increment(100);
    rig.clock.increment(999);
    expect(rig.state()).toEqual({ calling: 'opening' });
    rig.clock.increment(1);
    expect(rig.state()).toBe('backingOff');
  });
});

describe('a stalled stream', () => {
  test('[A13] times out exactly chunkMs plus an eighth after the last heartbeat', () => {
    const rig = startAttempt({ policy: { chunkMs: 800, firstChunkMs: 1_000 } });
    rig.clock.increment(500);
    rig.call().started();
    rig.clock.increment(899);
    expect(rig.state()).toEqual({ calling: 'streaming' });
    rig.clock.increment(1);
    expect(rig.state()).toBe('backingOff');
    expect(rig.calls[0]?.stopped).toBe(true);
    expect(rig.actor.getSnapshot().context.failure).toMatchObject({ stage: 'transport', code: 'stalled' });
  });

  test('[A13] stays alive while heartbeats arrive, long after the first-chunk deadline', async () => {
    const rig = startAttempt({ policy: { chunkMs: 800, firstChunkMs: 1_000 } });
    rig.call().started();
    for (let beat = 0; beat < 50; beat += 1) {
      rig.clock.increment(899);
      rig.call().progressed();
    }
    expect(rig.state()).toEqual({ calling: 'streaming' });
    await rig.end(reply());
    expect(rig.outcome()).toMatchObject({ ok: true, execution: { attempts: [{ durationMs: 50 * 899 }] } });
  });

  it('is recorded as ended when its timer fires', () => {
    const rig = startAttempt({ policy: { chunkMs: 800 } });
    rig.call().started();
    rig.clock.increment(900);
    expect(rig.actor.getSnapshot().context.execution.attempts[0]).toMatchObject({ startedAtMs: 0, durationMs: 900 });
  });

  it('[A13] is timed correctly with the largest allowed chunkMs', () => {
    const asked: number[] = [];
    const rig = startAttempt({ policy: { chunkMs: MAX_TIMER_MS, firstChunkMs: MAX_TIMER_MS } });
    const { setTimeout } = rig.clock;
    rig.clock.setTimeout = (fn, timeoutMs) => {
      asked.push(timeoutMs);
      return setTimeout.call(rig.clock, fn, timeoutMs);
    };
    rig.call().started();
    expect(Math.max(...asked)).toBeLessThanOrEqual(MAX_TIMER_MS);
  });
});
