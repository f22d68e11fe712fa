import { describe, expect, it } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { caughtError } from '../../../support/errors.ts';
import { type Plan, scriptedChain, settle } from '../../../support/run-chain.ts';

/** A chain whose first runs hang in Action until they are canceled; ids count from 1. */
function queueingChain(maxConcurrentRuns: number, hangs: number) {
  let ids = 0;
  const plan: Plan = { action: (call: number) => (call <= hangs ? { hang: true } : { reply: replies.action }) };
  const journals = memoryJournals();
  const newId = () => `run-${++ids}`;
  return { journals, ...scriptedChain(plan, { maxConcurrentRuns, journals, newId, limits: { totalMs: 10_000 } }) };
}

const request = { request: 'Is it so?' };

const hasBegun = ({ entries: journal }: Run): boolean => journal.some(({ type }) => type === 'activity-start');

describe('maxConcurrentRuns', () => {
  it('queues further runs and starts them in order', async () => {
    const { chain, model } = queueingChain(2, 4);
    const runs = Array.from({ length: 4 }, () => chain.run(request));
    const begun = () => runs.map(hasBegun);
    await settle();
    expect([begun(), model.calls.length]).toEqual([[true, true, false, false], 2]);
    runs[1]?.cancel();
    await runs[1]?.answer;
    await settle();
    expect([begun(), model.calls.length]).toEqual([[true, true, true, false], 3]);
    for (const run of runs) run.cancel();
    await Promise.all(runs.map(({ answer }) => answer));
  });

  it('does not count time in the queue toward the limits of a run', async () => {
    const { chain, clock } = queueingChain(1, 1);
    const [first, second] = [chain.run(request), chain.run(request)];
    await settle();
    clock.increment(9_000);
    first.cancel();
    await first.answer;
    const answer = await second.answer;
    expect(answer).toMatchObject({ status: 'completed', metadata: { budget: { totalMs: { used: 0 } } } });
    expect(second.entries.every(({ atMs }) => atMs === 0)).toBe(true);
    expect(replay(second.entries).divergence).toBeNull();
  });

  it.each<['cancel' | 'stop' | 'signal', string, string]>([
    ['cancel', 'cancelled', 'cancelled'],
    ['stop', 'degraded', 'interrupted'],
    ['signal', 'degraded', 'interrupted'],
  ])('lets a queued run answer at once, without a call, on %s', async (how, status, reason) => {
    const { chain, model } = queueingChain(1, 1);
    const controller = new AbortController();
    const first = chain.run(request);
    const second = chain.run({ ...request, signal: controller.signal });
    const third = chain.run(request);
    await settle();
    if (how === 'cancel') second.cancel();
    else if (how === 'stop') second.ref.stop();
    else controller.abort();
    expect(await second.answer).toMatchObject({ status, metadata: { reason } });
    expect(replay(second.entries).divergence).toBeNull();
    expect([model.calls.length, hasBegun(third)]).toEqual([1, false]);
    first.cancel();
    expect(await third.answer).toMatchObject({ status: 'completed' });
  });

  it('delivers other events to a queued run when it starts', async () => {
    const { chain, model } = queueingChain(1, 1);
    const [first, second] = [chain.run(request), chain.run(request)];
    await settle();
    second.send({ type: 'run.finished' });
    await settle();
    expect(hasBegun(second)).toBe(false);
    first.cancel();
    await second.answer;
    expect(model.calls.map(({ task }) => task)).toEqual(['action', 'synthesis']);
  });

  it('counts resumed and forked runs', async () => {
    const { chain, journals, model } = queueingChain(1, 2);
    const done = chain.run(request);
    done.cancel();
    await done.answer;
    const hanging = chain.run(request);
    await settle();
    let started = 0;
    const count = <Value>(value: Value): Value => {
      started += 1;
      return value;
    };
    const resumed = chain.resume('run-1').then(count);
    const forked = chain.fork(done.entries, { at: 1 }).then(count);
    await settle();
    expect(started).toBe(0);
    hanging.cancel();
    expect((await resumed).id).toBe('run-1');
    expect((await (await forked).answer).status).toBe('completed');
    expect((await journals.list()).length).toBe(3);
    expect(model.calls.length).toBeGreaterThan(2);
  });

  it('does not let a resumed run wait for a slot if its signal has aborted', async () => {
    const { chain } = queueingChain(1, 2);
    const ended = chain.run(request);
    ended.cancel();
    await ended.answer;
    const hanging = chain.run(request);
    await settle();
    expect((await chain.resume('run-1', { signal: AbortSignal.abort() })).id).toBe('run-1');
    hanging.cancel();
  });

  it('gives the slot of a run that cannot be resumed to the next one', async () => {
    const { chain } = queueingChain(1, 0);
    const failed = await Promise.allSettled([chain.resume('nowhere'), chain.resume('nowhere')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await chain.run(request).answer).toMatchObject({ status: 'completed' });
  });

  it.each([0, 1.5, -1, 'two'])('rejects %s', (maxConcurrentRuns) => {
    const error = caughtError(() => scriptedChain({}, { maxConcurrentRuns: maxConcurrentRuns as number }));
    expect(error).toMatchObject({ code: 'invalid_option' });
    expect(error?.message).toMatch(/^maxConcurrentRuns: expected/u);
  });
});

describe('runs that start together', () => {
  it('start in turns of the event loop, or when they are canceled', async () => {
    const { chain, clock, journals, model } = queueingChain(10, 0);
    const turns: (() => void)[] = [];
    Object.assign(clock, { takeTurn: (act: () => void) => void turns.push(act) });
    const [first, second, third] = Array.from({ length: 3 }, () => chain.run(request));
    await settle();
    expect([model.calls.length, turns.length, (await journals.list()).length]).toEqual([0, 3, 3]);
    third?.cancel();
    expect(await third?.answer).toMatchObject({ status: 'cancelled' });
    expect([second?.entries[0]?.type, second && hasBegun(second)]).toEqual(['start', false]);
    while (turns.length > 0) {
      turns.shift()?.();
      await settle();
    }
    const answers = await Promise.all([first?.answer, second?.answer]);
    expect(answers.map((answer) => answer?.status)).toEqual(['completed', 'completed']);
    expect(replay(second?.entries ?? []).divergence).toBeNull();
  });

  it('rethrow the error of their journal store at once', () => {
    const journals = {
      ...memoryJournals(),
      create: () => {
        throw new TypeError('the disk is full');
      },
    };
    expect(() => scriptedChain({}, { journals }).chain.run(request)).toThrow('the disk is full');
  });
});
