import { describe, expect, it } from 'vitest';
import { type AttemptRecord, attemptExecutionSchema, type NextCall } from '../../../../machines/contracts/attempt.ts';
import { AttemptsExhausted } from '../../../../src/llm/attempts/attempts-exhausted.ts';
import {
  exponentialBackoff,
  maxCorrections,
  maxTransportRetries,
  type RetryPolicy,
  retryPolicy,
} from '../../../../src/llm/attempts/retry-policy.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { throwing } from '../../../support/errors.ts';
import { neverSettles } from '../../../support/scripted-models.ts';
import { TestClock } from '../../../support/simulated-clock.ts';
import {
  failingCall,
  feedbackIn,
  invalidCall,
  runWithPolicy,
  unauthorizedCall,
  validCall,
} from '../../../support/structured-outputs.ts';

class Own extends Error {}

/** Records its calls. */
class AskedClock extends TestClock {
  readonly asked: number[] = [];

  override setTimeout(fn: (...args: unknown[]) => void, timeout: number): number {
    this.asked.push(timeout);
    return super.setTimeout(fn, timeout);
  }
}

describe('shouldRetry', () => {
  it('[A3] is called with the failed attempt, only if the budgets allow another call', async () => {
    const asked: string[] = [];
    const policy = retryPolicy(maxCorrections(2), exponentialBackoff({ baseMs: 1 }), {
      shouldRetry: ({ attempts }, { stage }) => {
        asked.push(`${attempts.length} ${stage} ${attempts.at(-1)?.failure?.stage}`);
        return true;
      },
    });
    await runWithPolicy([invalidCall, failingCall(), invalidCall, invalidCall], policy);
    expect([...new Set(asked)]).toEqual(['1 schema schema', '2 transport transport', '3 schema schema']);
  });

  it('[A3] ends the attempts with the unchanged failure by returning false', async () => {
    for (const [script, stage] of [
      [invalidCall, 'schema'],
      [failingCall(), 'transport'],
    ] as const) {
      const { attempts, error, waits } = await runWithPolicy([script], { shouldRetry: () => false });
      expect(attempts).toHaveLength(1);
      expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { stage } });
      expect(waits).toEqual([null]);
    }
  });

  it('[A3] [A4] cannot allow what the budgets, a permanent error, or maxCalls forbid', async () => {
    const eager: RetryPolicy = { shouldRetry: () => true };
    expect((await runWithPolicy([invalidCall], retryPolicy(maxCorrections(1), eager))).attempts).toHaveLength(2);
    expect((await runWithPolicy([unauthorizedCall], eager)).attempts).toHaveLength(1);
    expect((await runWithPolicy([invalidCall], eager, { limits: { maxCalls: 2 } })).attempts).toHaveLength(2);
  });
});

describe('recordFailure', () => {
  it('[A3] determines how a failed attempt is recorded; a successful one is unchanged', async () => {
    const policy: RetryPolicy = { recordFailure: (record) => ({ ...record, text: '(left out)' }) };
    const { attempts, updates } = await runWithPolicy([invalidCall, validCall], policy);
    expect(attempts.map(({ text }) => text)).toEqual(['(left out)', '{"yes":true}']);
    for (const { update } of updates) {
      expect(update.execution.attempts[0]?.text).toBe('(left out)');
      attemptExecutionSchema.parse(update.execution);
    }
  });

  it('[A3] [A9] does not hide the previous reply from the model', async () => {
    const { model } = await runWithPolicy([invalidCall, validCall], {
      recordFailure: (record) => ({ ...record, text: '' }),
    });
    expect(feedbackIn(model, 1)[0]).toBe('{"yes":"perhaps"}');
  });
});

it('[A3] prepareRetry changes the delay of the next call and the feedback', async () => {
  const policy: RetryPolicy = {
    prepareRetry: ({ waitMs, feedback }) => ({
      waitMs: waitMs + 25,
      feedback: feedback && { ...feedback, problem: 'Be brief.' },
    }),
  };
  const composed = retryPolicy(exponentialBackoff({ baseMs: 10 }), policy);
  const { waits, model, endedAtMs } = await runWithPolicy([invalidCall, failingCall(), validCall], composed);
  expect(waits).toEqual([35, 35]);
  expect(endedAtMs).toBe(70);
  expect(feedbackIn(model, 1)[1]).toContain('Be brief.');
  expect(feedbackIn(model, 2)).toEqual(feedbackIn(model, 1));
});

describe('an invalid delay', () => {
  // Guards against passing the requested delay on unchecked: the platform timer fires immediately for all of these but -1.
  it.for([Number.NaN, Number.POSITIVE_INFINITY, 1e12])('[A3] of %d ms never reaches a timer', async (waitMs) => {
    const clock = new AskedClock();
    await runWithPolicy([failingCall(), validCall], { prepareRetry: (next) => ({ ...next, waitMs }) }, { clock });
    for (const ms of clock.asked) expect(ms >= 0 && ms <= 2_147_483_647).toBe(true);
  });
});

describe('finalizeOrThrow', () => {
  it('[A3] can replace the error that everybody receives', async () => {
    const heard: unknown[] = [];
    const { error, output } = await runWithPolicy([invalidCall], {
      finalizeOrThrow: (exhausted) => {
        heard.push(exhausted);
        throw new Own(`after ${exhausted.attempts.length}`);
      },
    });
    expect(heard).toHaveLength(1);
    expect(heard[0]).toBeInstanceOf(AttemptsExhausted);
    expect(error).toBeInstanceOf(Own);
    expect(error?.message).toBe('after 3');
    await expect(output.next()).rejects.toBe(error);
  });

  it('[A3] can return a value, which is validated and becomes the result', async () => {
    const { value, error, output, updates } = await runWithPolicy([invalidCall], {
      finalizeOrThrow: ({ attempts }) => ({ yes: attempts.length === 3 }),
    });
    expect(error).toBeUndefined();
    expect(value).toEqual({ yes: true });
    expect(output.execution.attempts).toHaveLength(3);
    expect(updates.map(({ update }) => update.type).slice(-2)).toEqual(['reset', 'value']);
  });

  it('[A3] ends with an error if the value that it returns is invalid', async () => {
    const { error, attempts } = await runWithPolicy([invalidCall], { finalizeOrThrow: () => ({ yes: 'surely' }) });
    expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { code: 'policy_failed' } });
    expect(error?.message).toContain('The value of finalizeOrThrow is invalid');
    expect(error?.message).toContain('yes');
    expect(attempts).toHaveLength(3);
  });

  it('[A3] is an error if it returns a promise', async () => {
    const { error } = await runWithPolicy([invalidCall], { finalizeOrThrow: async () => ({ yes: true }) });
    expect(error).toMatchObject({ failure: { code: 'policy_failed', message: expect.stringContaining('a promise') } });
  });

  it('[A3] can return a value after the deadline has ended a wait', async () => {
    const policy = retryPolicy(exponentialBackoff({ baseMs: 600 }), {
      prepareRetry: (next) => ({ ...next, waitMs: 5_000 }),
      finalizeOrThrow: () => ({ yes: false }),
    });
    const { value } = await runWithPolicy([failingCall()], policy, { limits: { totalMs: 1_000 } });
    expect(value).toEqual({ yes: false });
  });

  it('[A3] keeps the error if it does not throw, and is not called on success', async () => {
    let asked = 0;
    const policy: RetryPolicy = {
      finalizeOrThrow: () => {
        asked += 1;
      },
    };
    expect((await runWithPolicy([invalidCall], policy)).error).toBeInstanceOf(AttemptsExhausted);
    expect((await runWithPolicy([validCall], policy)).value).toEqual({ yes: true });
    expect(asked).toBe(1);
  });
});

describe('a hook that throws', () => {
  const thrower = throwing('a mistake in the rule');
  const rules: readonly [string, RetryPolicy][] = [
    ['shouldRetry', { shouldRetry: thrower }],
    ['recordFailure', { recordFailure: thrower }],
    ['prepareRetry', { prepareRetry: thrower }],
  ];

  for (const [name, policy] of rules) {
    it(`[A3] ends the attempts with the error of ${name} and cleans up`, async () => {
      const { signal } = new AbortController();
      const { error, clock, model, output } = await runWithPolicy([failingCall()], policy, { signal });
      expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { code: 'policy_failed' } });
      expect(error?.message).toContain(`retry hook ${name} failed: a mistake in the rule`);
      expect(String((error?.cause as Error)?.message)).toContain('a mistake in the rule');
      await expect(output.next()).rejects.toBe(error);
      await settle();
      expect([clock.openTimers, model.open(), model.calls.length]).toEqual([0, 0, 1]);
    });
  }

  it.for(rules)('[A3] [A13] in %s ends a call that is still waiting', async ([, policy]) => {
    const { error, model, output } = await runWithPolicy([[neverSettles]], policy, { limits: { firstChunkMs: 100 } });
    expect(error).toMatchObject({ failure: { code: 'policy_failed' }, attempts: [{ failure: { code: 'no_reply' } }] });
    await expect(output.next()).rejects.toBe(error);
    await settle();
    expect(model.open()).toBe(0);
  });
});

it.for([
  ['alone', (rule: RetryPolicy) => rule],
  ['from a composed policy', (rule: RetryPolicy) => retryPolicy(maxCorrections(1), rule, { shouldRetry: () => true })],
] as const)('[A3] an invalid hook result such as a promise is an error and not a false: %s', async ([, made]) => {
  const rule = { shouldRetry: async () => true } as unknown as RetryPolicy;
  const { error, model } = await runWithPolicy([invalidCall, validCall], made(rule));
  expect(error).toMatchObject({ failure: { code: 'policy_failed', message: expect.stringContaining('a promise') } });
  expect(model.calls).toHaveLength(1);
});

describe('composed policies', () => {
  it('use the last value of each number', async () => {
    const policy = retryPolicy(maxCorrections(4), maxTransportRetries(1), maxCorrections(1));
    expect((await runWithPolicy([invalidCall], policy)).attempts).toHaveLength(2);
    expect((await runWithPolicy([failingCall()], policy)).attempts).toHaveLength(2);
  });

  it('[A3] call every hook in order with the result of the previous one', async () => {
    const asked: string[] = [];
    const rule = (name: string, ms: number): RetryPolicy => ({
      shouldRetry: () => asked.push(`should ${name}`) > 0,
      recordFailure: (record) => ({ ...record, text: `${record.text}${name}` }),
      prepareRetry: (next) => ({ ...next, waitMs: next.waitMs * ms + 1 }),
      finalizeOrThrow: () => void asked.push(`finalize ${name}`),
    });
    const nested = retryPolicy(retryPolicy(rule('a', 1), maxCorrections(1)), rule('b', 10));
    const { waits, attempts } = await runWithPolicy([invalidCall], nested);
    expect(waits).toEqual([11, null]);
    expect(attempts[0]?.text).toBe('{"yes":"perhaps"}ab');
    expect(asked.filter((one) => one.startsWith('finalize'))).toEqual(['finalize a', 'finalize b']);
    expect(asked.indexOf('should a')).toBeLessThan(asked.indexOf('should b'));
  });

  it('[A3] stop if one hook declines', async () => {
    for (const order of [
      [true, false],
      [false, true],
    ]) {
      const policy = retryPolicy(...order.map((says) => ({ shouldRetry: () => says })));
      expect((await runWithPolicy([invalidCall], policy)).attempts).toHaveLength(1);
    }
  });
});

describe('a policy that is an instance of a class', () => {
  class Private implements RetryPolicy {
    #ms = 100;
    get maxCorrections(): number {
      return 1;
    }
    prepareRetry(next: NextCall): NextCall {
      this.#ms *= 2;
      return { ...next, waitMs: this.#wait() };
    }
    #wait(): number {
      return this.#ms;
    }
  }
  class Inherited extends Private {
    readonly name = 'inherited';
  }
  class Arrows implements RetryPolicy {
    readonly maxCorrections = 1;
    readonly #base = 200;
    prepareRetry = (next: NextCall): NextCall => ({ ...next, waitMs: this.#base });
  }
  const plain: RetryPolicy = {
    maxCorrections: 1,
    prepareRetry(next) {
      return { ...next, waitMs: 200 * (this.maxCorrections ?? 0) };
    },
  };

  it.each<[string, () => RetryPolicy]>([
    ['private fields, a private method and a getter', () => new Private()],
    ['inherited members', () => new Inherited()],
    ['arrow functions', () => new Arrows()],
    ['a prototype of its own', () => Object.create(plain)],
    ['a plain object whose rule reads it', () => plain],
    ['a combination with other policies', () => retryPolicy(maxTransportRetries(0), new Private())],
    ['a combination of a combination', () => retryPolicy(retryPolicy(plain))],
  ])('[A3] keeps its state: %s', async (_, create) => {
    const { error, attempts, waits } = await runWithPolicy([invalidCall, invalidCall, validCall], create());
    expect(error).toMatchObject({ code: 'attempts_exhausted', failure: { stage: 'schema' } });
    expect(attempts).toHaveLength(2);
    expect(waits[0]).toBe(200);
  });

  it('[A3] calls each of its rules as a method', async () => {
    class Counting implements RetryPolicy {
      readonly calls: string[] = [];
      shouldRetry(): boolean {
        return this.calls.push('shouldRetry') > 0;
      }
      recordFailure(record: AttemptRecord): AttemptRecord {
        this.calls.push('recordFailure');
        return record;
      }
      finalizeOrThrow(): unknown {
        this.calls.push('finalizeOrThrow');
        return undefined;
      }
    }
    const policy = new Counting();
    await runWithPolicy([invalidCall], policy);
    expect([...new Set(policy.calls)].sort()).toEqual(['finalizeOrThrow', 'recordFailure', 'shouldRetry']);
  });

  it.each<[string, object, string]>([
    ['a plain object with a misspelled rule', { shouldRetyr: () => true }, 'policy.shouldRetyr: unknown option'],
    ['a plain object with state', { base: 1, shouldRetry: () => true }, 'policy.base: unknown option'],
    [
      'an instance with a rule of the wrong type',
      new (class {
        shouldRetry = 1;
      })(),
      'policy.shouldRetry: expected',
    ],
    [
      'an instance of another class',
      new (class {
        readonly url = '';
      })(),
      'policy.url: unknown option',
    ],
  ])('rejects %s', async (_, policy, message) => {
    await expect(async () => runWithPolicy([validCall], policy)).rejects.toThrow(message);
  });
});
