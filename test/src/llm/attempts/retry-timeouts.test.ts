import { describe, expect, it } from 'vitest';
import type { NextCall } from '../../../../machines/contracts/attempt.ts';
import { fallbackModel, maxTransportRetries } from '../../../../src/llm/attempts/retry-policy.ts';
import { neverSettles, textPart } from '../../../support/scripted-models.ts';
import {
  failingCall,
  namedModel,
  reasoningPart,
  runWithPolicy,
  validCall,
  waitsOf,
} from '../../../support/structured-outputs.ts';

describe('timeouts', () => {
  const limits = { firstChunkMs: 100, chunkMs: 80, totalMs: 1_000 };
  const once = maxTransportRetries(0);

  it('[A13] no chunk within firstChunkMs is a transport failure', async () => {
    const { endedAtMs, error, attempts } = await runWithPolicy([[neverSettles]], once, { limits });
    expect(endedAtMs).toBe(100);
    expect(error?.failure).toMatchObject({ stage: 'transport', code: 'no_reply', retryable: true });
    expect(attempts[0]?.durationMs).toBe(100);
  });

  it('[A13] no further chunk within chunkMs is a stall: never early, at most an eighth late', async () => {
    for (const parts of [
      [textPart('{'), neverSettles],
      [reasoningPart, neverSettles],
    ]) {
      const { endedAtMs, error } = await runWithPolicy([parts], once, { limits });
      expect(error?.failure).toMatchObject({ stage: 'transport', code: 'stalled' });
      expect(endedAtMs).toBeGreaterThanOrEqual(80);
      expect(endedAtMs).toBeLessThanOrEqual(90);
    }
  });

  it('[A13] totalMs ends an active call and the attempts', async () => {
    for (const fallbacks of [{}, fallbackModel(namedModel('b', validCall))]) {
      const {
        endedAtMs,
        error,
        attempts,
        updates: told,
        model,
        clock,
      } = await runWithPolicy([[neverSettles]], fallbacks, {
        limits: { firstChunkMs: 5_000, totalMs: 700 },
      });
      expect(endedAtMs).toBe(700);
      expect(error?.failure).toMatchObject({ stage: 'deadline', code: 'total_deadline' });
      expect(attempts).toMatchObject([{ failure: { stage: 'deadline' } }]);
      expect(waitsOf({ updates: told })).toEqual([null]);
      expect([model.open(), clock.openTimers]).toEqual([0, 0]);
    }
  });

  it('[A11] a call that totalMs ended is recorded as lasting until then', async () => {
    const long = { firstChunkMs: 5_000, chunkMs: 5_000, totalMs: 700 };
    for (const script of [[neverSettles], [reasoningPart, neverSettles]])
      expect((await runWithPolicy([script], {}, { limits: long })).attempts).toMatchObject([{ durationMs: 700 }]);
  });

  it('[A13] totalMs ends a delay and keeps the attempts', async () => {
    const policy = { prepareRetry: (next: NextCall) => ({ ...next, waitMs: 60_000 }) };
    const {
      endedAtMs,
      error,
      attempts,
      updates: told,
      clock,
    } = await runWithPolicy([failingCall()], policy, { limits });
    expect(endedAtMs).toBe(1_000);
    expect(error?.failure).toMatchObject({ stage: 'deadline', code: 'total_deadline' });
    expect(attempts).toMatchObject([{ failure: { code: 'server_error' } }]);
    expect(waitsOf({ updates: told })).toEqual([60_000]);
    expect(clock.openTimers).toBe(0);
  });

  it('[A13] a Retry-After beyond totalMs ends the attempts immediately or calls the next model', async () => {
    const asked = failingCall({ retryAfterMs: 60_000 });
    const { endedAtMs, error, clock } = await runWithPolicy([asked], {}, { limits });
    expect(endedAtMs).toBe(0);
    expect(error?.failure).toMatchObject({ code: 'server_error', retryAfterMs: 60_000 });
    expect(clock.openTimers).toBe(0);
    const second = namedModel('b', validCall);
    const { value, endedAtMs: fellBackAtMs } = await runWithPolicy([asked], fallbackModel(second), { limits });
    expect([value, fellBackAtMs]).toEqual([{ yes: true }, 0]);
  });
});
