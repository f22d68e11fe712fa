import { describe, expect, it, test } from 'vitest';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { limitsSchema } from '../../../machines/contracts/limits.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { failedReply, invalidReply, reply, SCHEMA_FAILURE, startAttempt } from '../../support/attempt-machine.ts';

describe('a valid reply', () => {
  test('[A1] becomes the output of the machine after one call', async () => {
    const rig = startAttempt();
    expect(rig.state()).toEqual({ calling: 'opening' });
    rig.call().started();
    expect(rig.state()).toEqual({ calling: 'streaming' });
    rig.call().ended(reply());
    expect(rig.state()).toBe('validating');
    await rig.end(reply());
    expect(rig.state()).toBe('succeeded');
    expect(rig.outcome()).toMatchObject({ ok: true, value: { good: true, checked: true } });
    expect(rig.calls).toHaveLength(1);
  });

  test('[A6] takes the same path and yields the same value when no chunk arrives before the end', async () => {
    const [chunked, whole] = [startAttempt(), startAttempt()];
    chunked.call().started();
    chunked.call().progressed();
    await chunked.end(reply());
    await whole.end(reply());
    expect(whole.outcome()).toEqual(chunked.outcome());
  });
});

describe('an invalid reply', () => {
  test('[A4] is corrected immediately in a second call', async () => {
    const rig = startAttempt();
    await rig.end(invalidReply());
    expect(rig.calls).toHaveLength(2);
    expect(rig.clock.now()).toBe(0);
    await rig.end(reply());
    expect(rig.outcome()).toMatchObject({ ok: true, execution: { corrections: 1, transportRetries: 0 } });
    expect(rig.calls.map(({ input: { attempt } }) => attempt)).toEqual([1, 2]);
  });

  test.each([0, 1, 2, 5])(
    '[A4] with %i corrections, makes one call more than that and then returns the last failure',
    async (maxCorrections) => {
      const rig = startAttempt({ policy: { maxCorrections } });
      for (let call = 0; call <= maxCorrections; call += 1) await rig.end(invalidReply());
      expect(rig.calls).toHaveLength(maxCorrections + 1);
      expect(rig.outcome()).toMatchObject({
        ok: false,
        failure: SCHEMA_FAILURE,
        execution: { corrections: maxCorrections, usage: { modelCalls: maxCorrections + 1 } },
      });
    },
  );

  test('[A4] allows two corrections by default and rejects a negative number', () => {
    expect(limitsSchema.parse({}).maxCorrections).toBe(2);
    for (const key of ['maxCorrections', 'maxTransportRetries'])
      for (const value of [-1, 0.5, Number.NaN])
        expect(limitsSchema.safeParse({ [key]: value }).success, `${key}: ${value}`).toBe(false);
  });

  test.each(['extraction', 'schema', 'refinement', 'transformation'] as const)(
    '[A10] counts a %s failure against the corrections',
    async (stage) => {
      const rig = startAttempt({
        validate: async () => ({ ok: false, failure: failureOf(stage, 'bad', 'No.') }),
        policy: { maxCorrections: 1 },
      });
      await rig.end(reply());
      await rig.end(reply());
      expect(rig.outcome()).toMatchObject({
        failure: { stage },
        execution: { corrections: 1, transportRetries: 0, attempts: [{ failure: { stage } }, { failure: { stage } }] },
      });
    },
  );

  test('never makes more calls than the run has left', async () => {
    const rig = startAttempt({ policy: { maxCorrections: 9, maxCalls: 2 } });
    await rig.end(invalidReply());
    await rig.end(invalidReply());
    expect(rig.calls).toHaveLength(2);
    expect(rig.outcome()).toMatchObject({ ok: false });
  });
});

describe('correction feedback', () => {
  test('[A9] contains the previous reply and its errors, path by path', async () => {
    const issues = [
      { path: 'ids.3.name', message: 'expected string' },
      { path: '', message: 'too much' },
    ];
    const rig = startAttempt({
      validate: async () => ({ ok: false, failure: { ...SCHEMA_FAILURE, issues } }),
    });
    expect(rig.call().input.feedback).toBeNull();
    await rig.end(reply({ text: '{"ids":"…"}' }));
    const { feedback } = rig.call().input;
    expect(feedback?.previousReply).toBe('{"ids":"…"}');
    expect(feedback?.problem).toContain(SCHEMA_FAILURE.message);
    expect(feedback?.problem).toContain('- ids.3.name: expected string');
    expect(feedback?.problem).toContain('- (root): too much');
  });

  test('[A9] is bounded for a huge reply and many errors, and states what was omitted', async () => {
    const issues = Array.from({ length: 5_000 }, (_, n) => ({ path: `items.${n}`, message: 'expected number' }));
    const rig = startAttempt({ validate: async () => ({ ok: false, failure: { ...SCHEMA_FAILURE, issues } }) });
    await rig.end(reply({ text: `begin${'x'.repeat(1_000_000)}end` }));
    const { previousReply = '', problem = '' } = rig.call().input.feedback ?? {};
    expect(previousReply.length).toBeLessThan(5_000);
    expect(previousReply).toMatch(/^begin[\s\S]*\d{6} characters left out[\s\S]*end$/);
    expect(problem.length).toBeLessThan(5_000);
    expect(problem).toContain('and 4990 more');
  });

  it.each([
    ['issue message', { issues: [{ path: 'a', message: 'x'.repeat(1_000_000) }] }],
    ['issue path', { issues: [{ path: 'x'.repeat(1_000_000), message: 'no' }] }],
    ['failure message', { message: 'x'.repeat(1_000_000) }],
  ])('[A9] is bounded for a very long %s', async (_, changes) => {
    const rig = startAttempt({ validate: async () => ({ ok: false, failure: { ...SCHEMA_FAILURE, ...changes } }) });
    await rig.end(reply());
    expect(rig.call().input.feedback?.problem.length).toBeLessThan(10_000);
  });

  test('[A9] keeps the previous feedback after a transport failure', async () => {
    const rig = startAttempt();
    await rig.end(invalidReply('{"first":1}'));
    const told = rig.call().input.feedback;
    await rig.end(failedReply());
    rig.clock.increment(100);
    expect(rig.call().input).toMatchObject({ attempt: 3, feedback: told });
    expect(told?.previousReply).toBe('{"first":1}');
  });
});

describe('a custom retry policy', () => {
  test('[A3] ends the attempts by declining a retry', async () => {
    const rig = startAttempt({ machine: attemptMachine.provide({ guards: { retryIsAllowed: () => false } }) });
    await rig.end(invalidReply());
    expect(rig.calls).toHaveLength(1);
    expect(rig.outcome()).toMatchObject({ ok: false, failure: SCHEMA_FAILURE });
  });

  test('[A3] replaces the backoff, which is a named delay', async () => {
    const rig = startAttempt({ machine: attemptMachine.provide({ delays: { backoff: 7 } }) });
    await rig.end(failedReply());
    rig.clock.increment(6);
    expect(rig.calls).toHaveLength(1);
    rig.clock.increment(1);
    expect(rig.calls).toHaveLength(2);
  });
});
