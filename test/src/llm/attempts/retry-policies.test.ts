import { describe, expect, it } from 'vitest';
import type { NextCall } from '../../../../machines/contracts/attempt.ts';
import {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from '../../../../src/llm/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/llm/attempts/structured-output.ts';
import { reasoningPart } from '../../../support/model-streams.ts';
import { chunkedReply, neverSettles, type PartModel, textPart } from '../../../support/scripted-models.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import {
  Answer,
  failingCall,
  feedbackIn,
  invalidCall,
  missingFieldCall,
  namedModel,
  runWithPolicy,
  settleOutput,
  unauthorizedCall,
  validCall,
} from '../../../support/structured-outputs.ts';

describe('retry budgets', () => {
  it('[A4] N corrections allow N + 1 calls: 2 by default, and none at 0', async () => {
    for (const count of [0, 1, 2, 5]) {
      const { model, error } = await runWithPolicy([invalidCall], maxCorrections(count));
      expect(model.calls).toHaveLength(count + 1);
      expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { stage: 'schema' } });
    }
    expect((await runWithPolicy([invalidCall], {})).model.calls).toHaveLength(3);
  });

  it('[A4] are separate: neither uses up the other', async () => {
    const policy = retryPolicy(maxCorrections(2), maxTransportRetries(2));
    const failures = [failingCall(), invalidCall, failingCall(), invalidCall];
    const { value, attempts } = await runWithPolicy([...failures, validCall], policy);
    expect(value).toEqual({ yes: true });
    expect(attempts).toHaveLength(5);
    const short = await runWithPolicy([...failures, failingCall(), validCall], policy);
    expect(short.attempts).toHaveLength(5);
    expect(short.error?.failure.stage).toBe('transport');
  });

  it('[A4] are bounded together, with fallbacks, by maxCalls', async () => {
    const fallback = fallbackModel(namedModel('b', invalidCall));
    const generous = retryPolicy(maxCorrections(9), maxTransportRetries(9), fallback);
    for (const maxCalls of [1, 2, 5]) {
      const limits = { maxCalls };
      const { attempts, models } = await runWithPolicy([invalidCall, failingCall()], generous, { limits });
      expect(attempts).toHaveLength(maxCalls);
      expect(new Set(models)).toEqual(new Set([0]));
    }
  });

  it('[A13] are not used for a rejected key or a bad request', async () => {
    for (const [status, code] of [
      [401, 'unauthorized'],
      [403, 'forbidden'],
      [400, 'bad_request'],
    ] as const) {
      const call = failingCall({ status, code, retryable: false });
      const { attempts, endedAtMs, waits } = await runWithPolicy([call], {});
      expect([attempts.length, endedAtMs, waits]).toEqual([1, 0, [null]]);
    }
  });
});

describe('exponential backoff', () => {
  it('[A3] waits 500 ms by default and doubles up to the maximum', async () => {
    expect((await runWithPolicy([failingCall()], {})).waits).toEqual([500, 1_000, 2_000, null]);
    const { waits: long } = await runWithPolicy([failingCall()], maxTransportRetries(8));
    expect(long.slice(5)).toEqual([16_000, 30_000, 30_000, null]);
    const policy = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100, maxMs: 350 }));
    const { waits, endedAtMs } = await runWithPolicy([failingCall()], policy);
    expect(waits).toEqual([100, 200, 350, 350, null]);
    expect(endedAtMs).toBe(1_000);
  });

  it('[A3] delays corrections too, counted separately from transport retries', async () => {
    const script = [invalidCall, failingCall(), invalidCall, failingCall(), validCall];
    const { waits } = await runWithPolicy(script, exponentialBackoff({ baseMs: 10 }));
    expect(waits).toEqual([10, 10, 20, 20]);
  });

  it('[A3] delays the first correction by half a second if no base is given', async () => {
    const { waits } = await runWithPolicy([invalidCall, validCall], exponentialBackoff());
    expect(waits).toEqual([500]);
  });

  it('[A3] does not delay corrections by default, nor with a backoff of transport retries only', async () => {
    for (const policy of [{}, { backoffBaseMs: 10 }]) {
      const { waits } = await runWithPolicy([invalidCall, invalidCall, validCall], policy);
      expect(waits).toEqual([0, 0]);
    }
  });

  it('[A13] yields to a delay requested by the server, shorter or longer, and continues doubling', async () => {
    const policy = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100, maxMs: 800, jitter: 1 }));
    const asked = [7_000, 3, 0].map((retryAfterMs) => failingCall({ retryAfterMs }));
    expect((await runWithPolicy([...asked, validCall], policy)).waits).toEqual([7_000, 3, 0]);
    const plain = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100 }));
    const { waits } = await runWithPolicy([failingCall({ retryAfterMs: 7 }), failingCall(), validCall], plain);
    expect(waits).toEqual([7, 200]);
  });

  it('[A3] derives jitter from the id: spread over ids, equal for equal ids', async () => {
    const policy = retryPolicy(maxTransportRetries(2), exponentialBackoff({ baseMs: 1_000, jitter: 0.4 }));
    const first: number[] = [];
    for (let n = 0; n < 60; n += 1) {
      const { waits } = await runWithPolicy([failingCall()], policy, { newId: () => `id-${n}` });
      const [one, two] = waits as [number, number];
      expect([one > 600, one <= 1_000, two > 1_200, two <= 2_000], `${one}, ${two}`).toEqual(Array(4).fill(true));
      first.push(one);
    }
    expect(new Set(first).size).toBe(60);
    for (let part = 0; part < 4; part += 1)
      expect(first.filter((ms) => Math.ceil((ms - 600) / 100) === part + 1).length).toBeGreaterThan(5);
    const again = await runWithPolicy([failingCall()], policy, { newId: () => 'id-7' });
    expect(again.waits[0]).toBe(first[7]);
    expect(again.endedAtMs).toBe((first[7] as number) + (again.waits[1] as number));
  });
});

describe('error feedback', () => {
  const lone = (words: readonly string[]): number =>
    words.join('').replaceAll(/\n\[\d+ characters left out\]\n/g, '').length;

  it('[A9] shows the model its reply and the errors, path by path', async () => {
    const { model } = await runWithPolicy([invalidCall, validCall], {});
    expect(feedbackIn(model, 0)).toEqual([]);
    const [reply, problem] = feedbackIn(model, 1);
    expect(reply).toBe('{"yes":"perhaps"}');
    expect(problem).toMatch(/is invalid[\s\S]*- yes: /);
  });

  it('[A9] is bounded for any reply', async () => {
    const long = chunkedReply({ yes: 'x'.repeat(50_000) }, 50_000);
    const words = 'That reply is invalid:\n\nReply again with these errors corrected.'.length;
    for (const maxChars of [10, 200, 8_000]) {
      const { model } = await runWithPolicy([long, validCall], withErrorFeedback({ maxChars }));
      const feedback = feedbackIn(model, 1);
      expect(feedback).toHaveLength(2);
      expect(lone(feedback) - words).toBeLessThanOrEqual(maxChars);
      expect(feedback[0]).toContain('characters left out');
    }
    expect(lone(feedbackIn((await runWithPolicy([long, validCall], {})).model, 1)) - words).toBeLessThanOrEqual(8_000);
  });

  it('[A9] is empty at 0, and the call has the turns of the first one', async () => {
    const { model, value } = await runWithPolicy([invalidCall, validCall], withErrorFeedback({ maxChars: 0 }));
    expect(value).toEqual({ yes: true });
    expect(model.calls[1]?.turns).toEqual(model.calls[0]?.turns);
  });

  it('[A9] belongs to a reply: a fallback for a model that threw receives none', async () => {
    const throwing: PartModel = {
      ...namedModel('a'),
      stream() {
        throw new Error('no socket to 10.0.0.7');
      },
    };
    const second = namedModel('b', validCall);
    const clock = new TestClock();
    const output = createStructuredOutput({
      model: throwing,
      schema: Answer,
      prompt: 'Is it so?',
      policy: fallbackModel(second),
      clock,
    });
    expect((await settleOutput(output, clock)).value).toEqual({ yes: true });
    expect(feedbackIn(second, 0)).toEqual([]);
  });
});

describe('a repeated error', () => {
  const stubborn = retryPolicy(maxCorrections(5), stopOnRepeatedError());

  it('[A3] ends the attempts when a correction fails in the same way', async () => {
    expect((await runWithPolicy([invalidCall], stubborn)).attempts).toHaveLength(2);
    expect((await runWithPolicy([invalidCall], maxCorrections(5))).attempts).toHaveLength(6);
    const alternating = [invalidCall, missingFieldCall, invalidCall, missingFieldCall, missingFieldCall];
    expect((await runWithPolicy(alternating, stubborn)).attempts).toHaveLength(5);
    expect((await runWithPolicy([invalidCall, missingFieldCall, validCall], stubborn)).value).toEqual({ yes: true });
  });

  it('[A3] is allowed for transport failures', async () => {
    const policy = retryPolicy(maxTransportRetries(4), stopOnRepeatedError());
    expect((await runWithPolicy([failingCall()], policy)).attempts).toHaveLength(5);
    expect((await runWithPolicy([invalidCall, failingCall(), failingCall(), validCall], policy)).value).toEqual({
      yes: true,
    });
  });

  it('[A3] switches to a fallback model', async () => {
    const policy = retryPolicy(stubborn, fallbackModel(namedModel('b', validCall)));
    const { models, value } = await runWithPolicy([invalidCall], policy);
    expect(models).toEqual([0, 0, 1]);
    expect(value).toEqual({ yes: true });
  });
});

describe('a fallback model', () => {
  it('[A3] takes over immediately with the last error when the previous model has no retries left', async () => {
    const large = namedModel('large', validCall);
    const policy = retryPolicy(maxCorrections(1), fallbackModel(large));
    const { models, waits } = await runWithPolicy([invalidCall], policy);
    expect(models).toEqual([0, 0, 1]);
    expect(waits).toEqual([0, 0]);
    expect(feedbackIn(large, 0)[0]).toBe('{"yes":"perhaps"}');
  });

  it('[A3] [A13] takes over immediately when a call fails permanently', async () => {
    const policy = fallbackModel(namedModel('b', validCall));
    const { models, waits, endedAtMs } = await runWithPolicy([unauthorizedCall], policy);
    expect([models, waits, endedAtMs]).toEqual([[0, 1], [0], 0]);
  });

  it('[A3] is called at least once and uses the rest of the budgets', async () => {
    const spent = retryPolicy(maxCorrections(1), maxTransportRetries(1), exponentialBackoff({ baseMs: 1 }));
    const two = retryPolicy(
      spent,
      fallbackModel(namedModel('b', invalidCall)),
      fallbackModel(namedModel('c', failingCall(), invalidCall)),
    );
    expect((await runWithPolicy([invalidCall], two)).models).toEqual([0, 0, 1, 2, 2]);
    const early = retryPolicy(maxCorrections(3), fallbackModel(namedModel('b', invalidCall), { after: 1 }));
    expect((await runWithPolicy([invalidCall], early)).models).toEqual([0, 1, 1, 1, 1]);
  });

  it('[A3] takes over after `after` failed attempts of any kind', async () => {
    const policy = (after: number) =>
      retryPolicy(maxCorrections(9), fallbackModel(namedModel('b', validCall), { after }));
    expect((await runWithPolicy([invalidCall], policy(1))).models).toEqual([0, 1]);
    expect((await runWithPolicy([invalidCall, failingCall(), invalidCall], policy(3))).models).toEqual([0, 0, 0, 1]);
    const lined = retryPolicy(policy(2), fallbackModel(namedModel('c', validCall)));
    const fallbackModels = [namedModel('b', invalidCall), namedModel('c', validCall)];
    expect((await runWithPolicy([invalidCall], { ...lined, fallbackModels })).models).toEqual([0, 0, 1, 1, 2]);
  });
});

describe('timeouts', () => {
  const limits = { firstChunkMs: 100, chunkMs: 80, totalMs: 1_000 };
  const once = maxTransportRetries(0);
  const thought = reasoningPart('hm');

  it('[A13] no chunk within firstChunkMs is a transport failure', async () => {
    const { endedAtMs, error, attempts } = await runWithPolicy([[neverSettles]], once, { limits });
    expect(endedAtMs).toBe(100);
    expect(error?.failure).toMatchObject({ stage: 'transport', code: 'no_reply', retryable: true });
    expect(attempts[0]?.durationMs).toBe(100);
  });

  it('[A13] no further chunk within chunkMs is a stall: never early, at most an eighth late', async () => {
    for (const parts of [
      [textPart('{'), neverSettles],
      [thought, neverSettles],
    ]) {
      const { endedAtMs, error } = await runWithPolicy([parts], once, { limits });
      expect(error?.failure).toMatchObject({ stage: 'transport', code: 'stalled' });
      expect(endedAtMs).toBeGreaterThanOrEqual(80);
      expect(endedAtMs).toBeLessThanOrEqual(90);
    }
  });

  it('[A13] reasoning in steps shorter than chunkMs is not a stall, however long it takes', async () => {
    const clock = new TestClock();
    const later = (ms: number) => new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), ms));
    const thinking = [70, 140, 210, 280].flatMap((ms) => [thought, later(ms)]);
    const { attempts, endedAtMs } = await runWithPolicy([[...thinking, ...validCall]], once, { limits, clock });
    expect([attempts.length, endedAtMs]).toEqual([1, 280]);
  });

  it('[A13] totalMs ends an active call and the attempts', async () => {
    for (const fallbacks of [{}, fallbackModel(namedModel('b', validCall))]) {
      const long = { limits: { firstChunkMs: 5_000, totalMs: 700 } };
      const { error, attempts, model, clock, ...ended } = await runWithPolicy([[neverSettles]], fallbacks, long);
      expect(error?.failure).toMatchObject({ stage: 'deadline', code: 'total_deadline' });
      expect(attempts).toMatchObject([{ failure: { stage: 'deadline' } }]);
      expect(ended).toMatchObject({ endedAtMs: 700, waits: [null] });
      expect([model.open(), clock.openTimers]).toEqual([0, 0]);
    }
  });

  it('[A11] a call that totalMs ended is recorded as lasting until then', async () => {
    const long = { firstChunkMs: 5_000, chunkMs: 5_000, totalMs: 700 };
    for (const script of [[neverSettles], [thought, neverSettles]])
      expect((await runWithPolicy([script], {}, { limits: long })).attempts).toMatchObject([{ durationMs: 700 }]);
  });

  it('[A13] totalMs ends a delay and keeps the attempts', async () => {
    const policy = { prepareRetry: (next: NextCall) => ({ ...next, waitMs: 60_000 }) };
    const { error, attempts, clock, ...ended } = await runWithPolicy([failingCall()], policy, { limits });
    expect(error?.failure).toMatchObject({ stage: 'deadline', code: 'total_deadline' });
    expect(attempts).toMatchObject([{ failure: { code: 'server_error' } }]);
    expect(ended).toMatchObject({ endedAtMs: 1_000, waits: [60_000] });
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
