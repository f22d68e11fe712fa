import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { exponentialBackoff, maxCorrections, type RetryPolicy, retryPolicy } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { throwing } from '../../../support/errors.ts';
import { entriesOf, scriptedChain, settle, startScripted } from '../../../support/run-chain.ts';

const INVALID = { reply: { answer: 7 } };
const invalidUntil = (last: number, reply: object) => (call: number) => (call <= last ? INVALID : { reply });

/** Runs a chain whose Intention replies validly to the third call, and returns the waits before its corrections. */
async function delaysOf(policy: RetryPolicy | { readonly intention: RetryPolicy }): Promise<readonly number[]> {
  const { run, clock } = startScripted({ intention: invalidUntil(2, replies.intention) }, { policy });
  await settle();
  clock.increment(400);
  await settle();
  clock.increment(800);
  expect((await run.answer).status).toBe('completed');
  return entriesOf(run, 'attempt-retry').map(({ delayMs }) => delayMs);
}

/** The number of calls of a task. */
const callsOf = ({ calls }: { readonly calls: readonly { readonly task: string }[] }, task: string): number =>
  calls.filter((call) => call.task === task).length;

describe('the retry policy of a chain', () => {
  it('[A3] delays corrections', async () => {
    expect(await delaysOf({ intention: exponentialBackoff({ baseMs: 400 }) })).toEqual([400, 800]);
  });

  it('[A3] gives a value in place of the reply, which the phase then uses', async () => {
    const policy: { intention: RetryPolicy } = {
      intention: { finalizeOrThrow: () => ({ ...replies.intention, goal: 'To be on time' }) },
    };
    const { run, model } = startScripted({ intention: INVALID }, { policy });
    expect((await run.answer).status).toBe('completed');
    expect(run.ref.getSnapshot().context.results.intention?.reply.goal).toBe('To be on time');
    expect(callsOf(model, 'intention')).toBe(3);
  });

  it('[A3] fails the phase with a code of its own and the message that finalizeOrThrow throws', async () => {
    const finalizeOrThrow = throwing('ask a human');
    const { run } = startScripted({ intention: INVALID }, { policy: { intention: { finalizeOrThrow } } });
    const [failure] = (await run.answer).metadata.failures;
    expect(failure).toMatchObject({
      phase: 'intention',
      failure: {
        stage: 'schema',
        code: 'policy_failed',
        message: 'The retry hook finalizeOrThrow failed: ask a human',
      },
    });
  });

  it('[A3] reports what finalizeOrThrow throws if a prompt was too long, and continues', async () => {
    const failure = {
      code: 'prompt_too_long',
      message: 'the prompt has 9 tokens too many',
      status: 400,
      retryable: false,
    };
    const finalizeOrThrow = throwing('ask a human');
    const { run } = startScripted({ observation: { failure } }, { policy: { observation: { finalizeOrThrow } } });
    const { metadata } = await run.answer;
    expect(metadata.failures[0]?.failure.code).toBe('policy_failed');
    expect(metadata.reason).not.toBe('model_unavailable');
    expect(metadata.cycles).toBe(1);
  });

  it.each([
    [
      'an unknown number',
      { maxCorection: 1 },
      /^policy\.maxCorection: unknown option; expected one of maxCorrections, /u,
    ],
    ['an unknown number of a task', { yield: { retries: 1 } }, /^policy\.yield\.retries: unknown option; /u],
    ['an unknown task', { yield: {}, thinking: {} }, /^policy\.thinking: unknown option; expected one of action, /u],
    [
      'a negative number',
      { intention: { maxCorrections: -1 } },
      /^policy\.intention\.maxCorrections: expected a number of at least 0/u,
    ],
    [
      'models',
      { fallbackModels: [{}] },
      /^policy\.fallbackModels: expected none; set the option fallbackModels of the chain/u,
    ],
    ['a rule that is not a function', { shouldRetry: true }, /^policy\.shouldRetry: expected a function/u],
  ])('[A3] rejects %s', (_, policy, message) => {
    expect(() => scriptedChain({}, { policy: policy as never })).toThrow(message);
  });
});

describe('the rules of a chain’s retry policy', () => {
  /** A policy with all rules, which lists its calls. */
  function countedPolicy() {
    const called: string[] = [];
    const policy = retryPolicy(maxCorrections(1), {
      shouldRetry: ({ task }) => called.push(`shouldRetry ${task}`) > 0,
      recordFailure: (record, { task }) => {
        called.push(`recordFailure ${task}`);
        return { ...record, text: '(left out)' };
      },
      prepareRetry: (next, { task }) => {
        called.push(`prepareRetry ${task}`);
        return { ...next, feedback: next.feedback && { ...next.feedback, problem: 'Name a goal.' } };
      },
      finalizeOrThrow: ({ execution: { task } }) => {
        called.push(`finalizeOrThrow ${task}`);
        return replies.intention;
      },
    });
    return { called, policy };
  }
  const EACH_ONCE = [
    'recordFailure intention',
    'shouldRetry intention',
    'prepareRetry intention',
    'recordFailure intention',
    'finalizeOrThrow intention',
  ];

  it('[A3] [promise 6] are called once per decision, and not again in a replay', async () => {
    const { called, policy } = countedPolicy();
    const { run } = startScripted({ intention: INVALID }, { policy });
    const answer = await run.answer;
    expect(called).toEqual(EACH_ONCE);
    expect(entriesOf(run, 'value').map(({ name }) => `${name.split(' ')[0]} intention`)).toEqual(EACH_ONCE);
    const recorded = JSON.parse(JSON.stringify(run.entries));
    const replayed = replay(recorded);
    expect(replayed.divergence).toBeNull();
    expect(replayed.answer).toEqual(answer);
    expect(called).toEqual(EACH_ONCE);
  });

  it('[promise 6] are not called again when a run is resumed after them', async () => {
    const { called, policy } = countedPolicy();
    const journals = memoryJournals();
    const { chain } = scriptedChain({ intention: INVALID }, { policy, journals });
    await chain.run({ request: 'Is it so?' }).answer;
    await (await chain.resume('run-1')).answer;
    expect(called).toEqual(EACH_ONCE);
  });

  it('[promise 6] replay to the same failure if one throws', async () => {
    let calls = 0;
    const shouldRetry = (): never => {
      calls += 1;
      throw new Error('a mistake in the rule');
    };
    const { run } = startScripted({ intention: INVALID }, { policy: { intention: { shouldRetry } } });
    const { metadata } = await run.answer;
    expect(metadata.failures[0]?.failure).toMatchObject({ code: 'policy_failed' });
    expect(metadata.failures[0]?.failure.message).toContain('shouldRetry failed: a mistake in the rule');
    const before = calls;
    expect(replay(JSON.parse(JSON.stringify(run.entries))).divergence).toBeNull();
    expect(calls).toBe(before);
  });
});
