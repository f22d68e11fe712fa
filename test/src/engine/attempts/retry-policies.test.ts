import { describe, expect, it } from 'vitest';
import {
  exponentialBackoff,
  fallbackModel,
  maxCorrections,
  maxTransportRetries,
  retryPolicy,
  stopOnRepeatedError,
  withErrorFeedback,
} from '../../../../src/engine/attempts/retry-policy.ts';
import { createStructuredOutput } from '../../../../src/engine/attempts/structured-output.ts';
import { type PartModel, said } from '../../../support/part-model.ts';
import { CountingClock } from './counting-clock.ts';
import { play, waitsOf } from './play.ts';
import { Answer, down, missing, named, refused, right, toldIn, tried, wrong } from './retry-rig.ts';

describe('retry budgets', () => {
  it('[A4] N corrections allow N + 1 calls: 2 by default, and none at 0', async () => {
    for (const count of [0, 1, 2, 5]) {
      const { model, error } = await tried([wrong], maxCorrections(count));
      expect(model.calls).toHaveLength(count + 1);
      expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { stage: 'schema' } });
    }
    expect((await tried([wrong], {})).model.calls).toHaveLength(3);
  });

  it('[A4] N transport retries allow N + 1 calls: 3 by default, and none at 0', async () => {
    for (const count of [0, 1, 2, 5]) {
      const { model, error } = await tried([down()], maxTransportRetries(count));
      expect(model.calls).toHaveLength(count + 1);
      expect(error).toMatchObject({ failure: { stage: 'transport', code: 'server_error' } });
    }
    expect((await tried([down()], {})).model.calls).toHaveLength(4);
  });

  it('[A4] are separate: neither uses up the other', async () => {
    const policy = retryPolicy(maxCorrections(2), maxTransportRetries(2));
    const { value, attempts } = await tried([down(), wrong, down(), wrong, right], policy);
    expect(value).toEqual({ yes: true });
    expect(attempts).toHaveLength(5);
    const short = await tried([down(), wrong, down(), wrong, down(), right], policy);
    expect(short.attempts).toHaveLength(5);
    expect(short.error?.failure.stage).toBe('transport');
  });

  it('[A4] are bounded together, with fallbacks, by maxCalls', async () => {
    const generous = retryPolicy(maxCorrections(9), maxTransportRetries(9), fallbackModel(named('b', wrong)));
    for (const maxCalls of [1, 2, 5]) {
      const { attempts, models } = await tried([wrong, down()], generous, { limits: { maxCalls } });
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
      const { attempts, endedAtMs, told } = await tried([down({ status, code, retryable: false })], {});
      expect(attempts).toHaveLength(1);
      expect(endedAtMs).toBe(0);
      expect(waitsOf({ told })).toEqual([null]);
    }
  });
});

describe('exponential backoff', () => {
  it('[A3] waits 500 ms by default and doubles up to the maximum', async () => {
    expect(waitsOf(await tried([down()], {}))).toEqual([500, 1_000, 2_000, null]);
    expect(waitsOf(await tried([down()], maxTransportRetries(8))).slice(5)).toEqual([16_000, 30_000, 30_000, null]);
    const policy = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100, maxMs: 350 }));
    const { told, endedAtMs } = await tried([down()], policy);
    expect(waitsOf({ told })).toEqual([100, 200, 350, 350, null]);
    expect(endedAtMs).toBe(1_000);
  });

  it('[A3] is reported and kept: the next call starts when the reset announced', async () => {
    const { told, model } = await tried([down(), down(), right], exponentialBackoff({ baseMs: 40 }));
    expect(told.map(({ atMs }) => atMs)).toEqual([0, 40, 120]);
    expect(model.calls).toHaveLength(3);
  });

  it('does not delay a correction, and a correction does not lengthen delays', async () => {
    const { told } = await tried([wrong, down(), wrong, down(), right], exponentialBackoff({ baseMs: 10 }));
    expect(waitsOf({ told })).toEqual([0, 10, 0, 20]);
  });

  it('does not wait with a base of 0', async () => {
    const { told, endedAtMs } = await tried([down(), down(), right], exponentialBackoff({ baseMs: 0 }));
    expect(waitsOf({ told })).toEqual([0, 0]);
    expect(endedAtMs).toBe(0);
  });

  it('[A13] yields to a delay requested by the server, shorter or longer, and continues doubling', async () => {
    const policy = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100, maxMs: 800, jitter: 1 }));
    const asked = [down({ retryAfterMs: 7_000 }), down({ retryAfterMs: 3 }), down({ retryAfterMs: 0 })];
    expect(waitsOf(await tried([...asked, right], policy))).toEqual([7_000, 3, 0]);
    const plain = retryPolicy(maxTransportRetries(4), exponentialBackoff({ baseMs: 100 }));
    expect(waitsOf(await tried([down({ retryAfterMs: 7 }), down(), right], plain))).toEqual([7, 200]);
  });

  it('[A3] derives jitter from the id: spread over ids, equal for equal ids', async () => {
    const policy = retryPolicy(maxTransportRetries(2), exponentialBackoff({ baseMs: 1_000, jitter: 0.4 }));
    const first: number[] = [];
    for (let n = 0; n < 200; n += 1) {
      const waits = waitsOf(await tried([down()], policy, { newId: () => `id-${n}` })) as [number, number, null];
      expect(waits[0]).toBeGreaterThan(600);
      expect(waits[0]).toBeLessThanOrEqual(1_000);
      expect(waits[1]).toBeGreaterThan(1_200);
      expect(waits[1]).toBeLessThanOrEqual(2_000);
      first.push(waits[0]);
    }
    expect(new Set(first).size).toBe(200);
    for (let part = 0; part < 4; part += 1)
      expect(first.filter((ms) => Math.ceil((ms - 600) / 100) === part + 1).length).toBeGreaterThan(25);
    const again = await tried([down()], policy, { newId: () => 'id-7' });
    expect(waitsOf(again)[0]).toBe(first[7]);
    expect(again.endedAtMs).toBe((first[7] as number) + (waitsOf(again)[1] as number));
  });
});

describe('error feedback', () => {
  const lone = (words: readonly string[]): number =>
    words.join('').replaceAll(/\n\[\d+ characters left out\]\n/g, '').length;

  it('[A9] shows the model its reply and the errors, path by path', async () => {
    const { model } = await tried([wrong, right], {});
    expect(toldIn(model, 0)).toEqual([]);
    const [reply, problem] = toldIn(model, 1);
    expect(reply).toBe('{"yes":"perhaps"}');
    expect(problem).toMatch(/is invalid[\s\S]*- yes: /);
  });

  it('[A9] is bounded for any reply', async () => {
    const long = said({ yes: 'x'.repeat(50_000) }, 50_000);
    const words = 'That reply is invalid:\n\nReply again with these errors corrected.'.length;
    for (const maxChars of [10, 200, 8_000]) {
      const { model } = await tried([long, right], withErrorFeedback({ maxChars }));
      const told = toldIn(model, 1);
      expect(told).toHaveLength(2);
      expect(lone(told) - words).toBeLessThanOrEqual(maxChars);
      expect(told[0]).toContain('characters left out');
    }
    expect(lone(toldIn((await tried([long, right], {})).model, 1)) - words).toBeLessThanOrEqual(8_000);
  });

  it('[A9] is empty at 0, and the call equals the first one', async () => {
    const { model, value } = await tried([wrong, right], withErrorFeedback({ maxChars: 0 }));
    expect(value).toEqual({ yes: true });
    expect(model.calls[1]).toEqual(model.calls[0]);
  });

  it('[A9] is bounded exactly', async () => {
    for (const maxChars of [1, 2, 3, 5]) {
      const { model } = await tried([said('ab', 2), right], withErrorFeedback({ maxChars }));
      expect(
        lone(toldIn(model, 1)) - 'That reply is invalid:\n\nReply again with these errors corrected.'.length,
      ).toBeLessThanOrEqual(maxChars);
    }
  });

  it('[A9] belongs to a reply: a fallback for a model that threw receives none', async () => {
    const throwing: PartModel = {
      ...named('a'),
      stream() {
        throw new Error('no socket to 10.0.0.7');
      },
    };
    const second = named('b', right);
    const clock = new CountingClock();
    const output = createStructuredOutput({
      model: throwing,
      schema: Answer,
      prompt: 'Is it so?',
      policy: fallbackModel(second),
      clock,
    });
    expect((await play(output, clock)).value).toEqual({ yes: true });
    expect(toldIn(second, 0)).toEqual([]);
  });

  it('[A9] is kept through a transport failure, which has nothing to correct', async () => {
    const { model } = await tried([down(), wrong, down(), right], exponentialBackoff({ baseMs: 1 }));
    expect(toldIn(model, 1)).toEqual([]);
    expect(toldIn(model, 2)[0]).toBe('{"yes":"perhaps"}');
    expect(toldIn(model, 3)).toEqual(toldIn(model, 2));
  });
});

describe('a repeated error', () => {
  const stubborn = retryPolicy(maxCorrections(5), stopOnRepeatedError());

  it('[A3] ends the attempts when a correction fails in the same way', async () => {
    expect((await tried([wrong], stubborn)).attempts).toHaveLength(2);
    expect((await tried([wrong], maxCorrections(5))).attempts).toHaveLength(6);
    expect((await tried([wrong, missing, wrong, missing, missing], stubborn)).attempts).toHaveLength(5);
    expect((await tried([wrong, missing, right], stubborn)).value).toEqual({ yes: true });
  });

  it('[A3] is detected across a transport failure', async () => {
    expect((await tried([wrong, down(), wrong, right], stubborn)).attempts).toHaveLength(3);
  });

  it('[A3] is allowed for transport failures', async () => {
    const policy = retryPolicy(maxTransportRetries(4), stopOnRepeatedError());
    expect((await tried([down()], policy)).attempts).toHaveLength(5);
    expect((await tried([wrong, down(), down(), right], policy)).value).toEqual({ yes: true });
  });

  it('[A3] switches to a fallback model', async () => {
    const { models, value } = await tried([wrong], retryPolicy(stubborn, fallbackModel(named('b', right))));
    expect(models).toEqual([0, 0, 1]);
    expect(value).toEqual({ yes: true });
  });
});

describe('a fallback model', () => {
  it('[A3] takes over immediately with the last error when the previous model has no retries left', async () => {
    const large = named('large', right);
    const { models, told } = await tried([wrong], retryPolicy(maxCorrections(1), fallbackModel(large)));
    expect(models).toEqual([0, 0, 1]);
    expect(waitsOf({ told })).toEqual([0, 0]);
    expect(toldIn(large, 0)[0]).toBe('{"yes":"perhaps"}');
  });

  it('[A3] [A13] takes over immediately when a call fails permanently', async () => {
    const { models, told, endedAtMs } = await tried([refused], fallbackModel(named('b', right)));
    expect(models).toEqual([0, 1]);
    expect(waitsOf({ told })).toEqual([0]);
    expect(endedAtMs).toBe(0);
  });

  it('[A3] is called at least once and uses the rest of the budgets', async () => {
    const spent = retryPolicy(maxCorrections(1), maxTransportRetries(1), exponentialBackoff({ baseMs: 1 }));
    const two = retryPolicy(spent, fallbackModel(named('b', wrong)), fallbackModel(named('c', down(), wrong)));
    expect((await tried([wrong], two)).models).toEqual([0, 0, 1, 2, 2]);
    const early = retryPolicy(maxCorrections(3), fallbackModel(named('b', wrong), { after: 1 }));
    expect((await tried([wrong], early)).models).toEqual([0, 1, 1, 1, 1]);
  });

  it('[A3] takes over after `after` failed attempts of any kind', async () => {
    const policy = (after: number) => retryPolicy(maxCorrections(9), fallbackModel(named('b', right), { after }));
    expect((await tried([wrong], policy(1))).models).toEqual([0, 1]);
    expect((await tried([wrong, down(), wrong], policy(3))).models).toEqual([0, 0, 0, 1]);
    const lined = retryPolicy(policy(2), fallbackModel(named('c', right)));
    expect((await tried([wrong], { ...lined, fallbackModels: [named('b', wrong), named('c', right)] })).models).toEqual(
      [0, 0, 1, 1, 2],
    );
  });

  it('[A3] takes over from a model without budget before `after` is reached', async () => {
    const policy = retryPolicy(maxCorrections(1), fallbackModel(named('b', right), { after: 10 }));
    expect((await tried([wrong], policy)).models).toEqual([0, 0, 1]);
  });

  it('is identified by its position, and the error names the last failure', async () => {
    const policy = retryPolicy(
      fallbackModel(named('b', refused)),
      fallbackModel(named('c', down({ code: 'gone', retryable: false }))),
    );
    const { models, error } = await tried([refused], policy);
    expect(models).toEqual([0, 1, 2]);
    expect(error?.failure.code).toBe('gone');
  });
});
