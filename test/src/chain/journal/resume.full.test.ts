import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { finalAnswerSchema } from '../../../../machines/contracts/synthesis.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { readRun, runSummary } from '../../../../src/chain/journal/run-journal.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { killedAfter } from '../../../support/journal-files.ts';
import { randomChain, randomRunArbitrary, runUntilEnded, startRandomRun } from '../../../support/random-runs.ts';
import { capabilityNamed, scriptedChain } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

/** Calls without a model are not model calls: each model hung before, or answers in prose. */
const NOT_CALLED: readonly unknown[] = ['model_unavailable', 'prose_only'];

function modelCallsIn(entries: readonly JournalEntry[]): number {
  const notCalled = entries.filter(
    (entry) =>
      entry.type === 'activity-event' &&
      entry.event.type === 'reply.ended' &&
      NOT_CALLED.includes(entry.event.reply.failure?.code),
  );
  const started = entries.filter(
    (entry) => entry.type === 'activity-start' && ['readReply', 'callAhead'].includes(entry.source),
  );
  return started.length - notCalled.length;
}

describe('a killed run', () => {
  it('[promise 6] resumes at any entry to an answer, counts every call once, and replays as one run', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), async (random, share) => {
        const { run } = await startRandomRun(random);
        await run.answer;
        const recorded = run.entries.slice(0, 1 + Math.floor(share * (run.entries.length - 1)));
        const journals = killedAfter(recorded);
        const { chain, model, clock } = randomChain(random, { journals });
        const resumed = await chain.resume('run-1');
        await runUntilEnded(resumed, clock, random.words);
        const answer = finalAnswerSchema.parse(await resumed.answer);
        expect(answer.answerText.trim()).not.toBe('');
        expect(answer.metadata.usage.modelCalls).toBe(modelCallsIn(recorded) + model.calls.length);
        const stored = await readRun(journals.read('run-1'));
        expect(stored.slice(0, recorded.length)).toEqual(JSON.parse(JSON.stringify(recorded)));
        expect(stored).toEqual(JSON.parse(JSON.stringify(resumed.entries)));
        const replayed = replay(stored);
        expect(replayed.divergence).toBeNull();
        expect(replayed.answer).toEqual(answer);
        expect(clock.openTimers).toBe(0);
        expect((await journals.list()).map(runSummary)).toMatchObject([{ id: 'run-1', status: answer.status }]);
      }),
      { numRuns: sampleSize('resumed runs', 60, 2000) },
    );
  });
});

describe('an interrupted capability', () => {
  it('runs again with the same idempotency key; other runs have other keys', async () => {
    const keys: string[] = [];
    const step = { capability: 'pay', arguments: '{}' };
    const pay = (hangs: boolean) =>
      capabilityNamed('pay', (_, { idempotencyKey }) => {
        keys.push(idempotencyKey);
        return hangs && keys.length === 2 ? new Promise(() => {}) : 'paid';
      });
    const plan = { action: { ...replies.action, calls: [step] } };
    const journals = memoryJournals();
    const decider = ({ results }: { results: readonly unknown[] }) =>
      results.length < 3 ? ({ done: false, next: step } as const) : ({ done: true, finalOutput: null } as const);
    const killed = scriptedChain(plan, { journals, continuation: decider, capabilities: [pay(true)] });
    const run = killed.chain.run({ request: 'Is it so?' });
    await expect.poll(() => keys).toHaveLength(2);
    const left = killedAfter(run.entries);
    const { chain } = scriptedChain(plan, { journals: left, continuation: decider, capabilities: [pay(false)] });
    await (await chain.resume('run-1')).answer;
    expect(keys).toEqual(['run-1.s1.action.1', 'run-1.s1.action.2', 'run-1.s1.action.2', 'run-1.s1.action.3']);
  });

  it('runs again without the calls of the same reply that had ended', async () => {
    const ran: string[] = [];
    const call = (article: string) => ({ capability: 'pay', arguments: JSON.stringify({ article }) });
    const pay = (hangs: boolean) =>
      capabilityNamed(
        'pay',
        ({ article }, { idempotencyKey }) => {
          ran.push(`${article} ${idempotencyKey}`);
          return hangs && article === 'tent' ? new Promise(() => {}) : `${article} paid`;
        },
        { arguments: z.object({ article: z.string() }) },
      );
    const plan = { action: { ...replies.action, calls: ['tent', 'lamp'].map(call) } };
    const killed = scriptedChain(plan, { journals: memoryJournals(), capabilities: [pay(true)] });
    const run = killed.chain.run({ request: 'Is it so?' });
    await expect.poll(() => run.entries.some(({ type }) => type === 'capability-end')).toBe(true);
    const { chain } = scriptedChain(plan, { journals: killedAfter(run.entries), capabilities: [pay(false)] });
    const resumed = await chain.resume('run-1');
    await resumed.answer;
    expect(ran).toEqual(['tent run-1.s1.action.1', 'lamp run-1.s1.action.2', 'tent run-1.s1.action.1']);
    const { results } = resumed.ref.getSnapshot().context.results.action ?? {};
    expect(results?.map(({ output }) => output)).toEqual(['tent paid', 'lamp paid']);
  });

  it('[promise 6] counts a lost call that started early, and its phase calls the model again', async () => {
    const killed = scriptedChain({}, { profile: 'thorough' }).chain.run({ request: 'Is it so?' });
    await killed.answer;
    const cut = 1 + killed.entries.findIndex((entry) => entry.type === 'prompt' && entry.attemptId === 's3.intention');
    const recorded = killed.entries.slice(0, cut);
    const { chain, model } = scriptedChain({}, { profile: 'thorough', journals: killedAfter(recorded) });
    const resumed = await chain.resume('run-1');
    const { status, metadata } = await resumed.answer;
    expect(status).toBe('completed');
    expect(model.calls.map(({ task }) => task)).toEqual([
      'intention',
      'observation',
      'understanding',
      'yield',
      'synthesis',
    ]);
    expect(metadata.usage.modelCalls).toBe(modelCallsIn(recorded) + model.calls.length);
    expect(replay(resumed.entries).divergence).toBeNull();
  });
});
