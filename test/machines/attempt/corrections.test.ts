import { describe, expect, it, test } from 'vitest';
import { attemptMachine } from '../../../machines/attempt/attempt.machine.ts';
import { limitsSchema } from '../../../machines/contracts/limits.ts';
import { failureOf } from '../../../machines/policies/failures.ts';
import { attemptRig, badReply, brokenReply, reply, SCHEMA_FAILURE } from './attempt-rig.ts';

describe('a reply that validates', () => {
  test('[A1] is the machine’s value after one call', async () => {
    const rig = attemptRig();
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

  test('[A6] takes the same path and gives the same value without a single chunk before its end', async () => {
    const [chunked, whole] = [attemptRig(), attemptRig()];
    chunked.call().started();
    chunked.call().progressed();
    await chunked.end(reply());
    await whole.end(reply());
    expect(whole.outcome()).toEqual(chunked.outcome());
  });
});

describe('a reply that does not validate', () => {
  test('[A4] is corrected in a second call, at once', async () => {
    const rig = attemptRig();
    await rig.end(badReply());
    expect(rig.calls).toHaveLength(2);
    expect(rig.clock.now()).toBe(0);
    await rig.end(reply());
    expect(rig.outcome()).toMatchObject({ ok: true, execution: { corrections: 1, transportRetries: 0 } });
    expect(rig.calls.map(({ input: { attempt } }) => attempt)).toEqual([1, 2]);
  });

  test.each([0, 1, 2, 5])(
    '[A4] %i corrections are one call more, and then the last failure',
    async (maxCorrections) => {
      const rig = attemptRig({ policy: { maxCorrections } });
      for (let call = 0; call <= maxCorrections; call += 1) await rig.end(badReply());
      expect(rig.calls).toHaveLength(maxCorrections + 1);
      expect(rig.outcome()).toMatchObject({
        ok: false,
        failure: SCHEMA_FAILURE,
        execution: { corrections: maxCorrections, usage: { modelCalls: maxCorrections + 1 } },
      });
    },
  );

  test('[A4] the default is two corrections, and a negative number is refused', () => {
    expect(limitsSchema.parse({}).maxCorrections).toBe(2);
    for (const key of ['maxCorrections', 'maxTransportRetries'])
      for (const value of [-1, 0.5, Number.NaN])
        expect(limitsSchema.safeParse({ [key]: value }).success, `${key}: ${value}`).toBe(false);
  });

  test.each(['extraction', 'schema', 'refinement', 'transformation'] as const)(
    '[A10] a failure of %s is paid from the corrections',
    async (stage) => {
      const rig = attemptRig({
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

  test('never more calls than the run has left, whatever is allowed', async () => {
    const rig = attemptRig({ policy: { maxCorrections: 9, maxCalls: 2 } });
    await rig.end(badReply());
    await rig.end(badReply());
    expect(rig.calls).toHaveLength(2);
    expect(rig.outcome()).toMatchObject({ ok: false });
  });
});

describe('what the next call is told', () => {
  test('[A9] the previous reply and its errors, path by path', async () => {
    const issues = [
      { path: 'ids.3.name', message: 'expected string' },
      { path: '', message: 'too much' },
    ];
    const rig = attemptRig({
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

  test('[A9] a huge reply and very many errors are told in a bounded way, and what is left out is said', async () => {
    const issues = Array.from({ length: 5_000 }, (_, n) => ({ path: `items.${n}`, message: 'expected number' }));
    const rig = attemptRig({ validate: async () => ({ ok: false, failure: { ...SCHEMA_FAILURE, issues } }) });
    await rig.end(reply({ text: `begin${'x'.repeat(1_000_000)}end` }));
    const { previousReply = '', problem = '' } = rig.call().input.feedback ?? {};
    expect(previousReply.length).toBeLessThan(5_000);
    expect(previousReply).toMatch(/^begin[\s\S]*\d{6} characters left out[\s\S]*end$/);
    expect(problem.length).toBeLessThan(5_000);
    expect(problem).toContain('and 4990 more');
  });

  it.each([
    ['message of an issue', { issues: [{ path: 'a', message: 'x'.repeat(1_000_000) }] }],
    ['path of an issue', { issues: [{ path: 'x'.repeat(1_000_000), message: 'no' }] }],
    ['message of a failure', { message: 'x'.repeat(1_000_000) }],
  ])('[A9] a very long %s is told in a bounded way too', async (_, changes) => {
    const rig = attemptRig({ validate: async () => ({ ok: false, failure: { ...SCHEMA_FAILURE, ...changes } }) });
    await rig.end(reply());
    expect(rig.call().input.feedback?.problem.length).toBeLessThan(10_000);
  });

  test('[A9] a transport failure tells nothing new: what was wrong before stays said', async () => {
    const rig = attemptRig();
    await rig.end(badReply('{"first":1}'));
    const told = rig.call().input.feedback;
    await rig.end(brokenReply());
    rig.clock.increment(100);
    expect(rig.call().input).toMatchObject({ attempt: 3, feedback: told });
    expect(told?.previousReply).toBe('{"first":1}');
  });
});

describe('the retry policy', () => {
  test('[A3] can be replaced in its decision: one that declines without throwing ends the attempt', async () => {
    const rig = attemptRig({ machine: attemptMachine.provide({ guards: { retryIsAllowed: () => false } }) });
    await rig.end(badReply());
    expect(rig.calls).toHaveLength(1);
    expect(rig.outcome()).toMatchObject({ ok: false, failure: SCHEMA_FAILURE });
  });

  test('[A3] can be replaced in what it waits: the backoff is a named delay', async () => {
    const rig = attemptRig({ machine: attemptMachine.provide({ delays: { backoff: 7 } }) });
    await rig.end(brokenReply());
    rig.clock.increment(6);
    expect(rig.calls).toHaveLength(1);
    rig.clock.increment(1);
    expect(rig.calls).toHaveLength(2);
  });
});
