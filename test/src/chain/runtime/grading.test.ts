import { describe, expect, it, vi } from 'vitest';
import { replay } from '../../../../src/chain/journal/replay.ts';
import type { AnswerGrader } from '../../../../src/chain/runtime/answer-grader.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { type ScriptedReply, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { killedAfter } from '../../../support/journal-files.ts';
import {
  entriesOf,
  ONE_CALL_PER_PHASE,
  plannedModel,
  rulesOf,
  settle,
  startScripted,
} from '../../../support/run-chain.ts';

/** Without a grader, this claim ends the run in its first cycle. */
const claim = { yield: { ...replies.yield, taskComplete: true } };
const believed = { grounding: null, completion: 1, sufficiency: 1, satisfaction: 0, contradictions: [] };
const graded = (grader: AnswerGrader, plan = {}, limits = {}) =>
  startScripted({ ...claim, ...plan }, { grader, limits: { maxCycles: 2, ...limits } });
const judgeThat = (reply: ScriptedReply, id = 'judge') => scriptedModel(() => reply, { id });

describe('an own grader', () => {
  it('[Y3] that finds contradictions in the request leads the run to Intention', async () => {
    const { run } = graded(() => ({ completion: 0, contradictions: ['short and long'] }));
    await run.answer;
    expect(entriesOf(run, 'decision')[0]?.decision.nextPhase).toBe('intention');
  });

  it.each<[string, AnswerGrader, RegExp]>([
    ['throws', () => Promise.reject(new Error('the service is down')), /the service is down/],
    ['throws at once', () => JSON.parse('{'), /JSON/],
    ['returns a grade out of range', () => ({ completion: 2 }), /invalid grades \(completion: /],
    ['returns no number', () => ({ grounding: Number.NaN }), /invalid grades \(grounding: /],
    ['misspells a grade', () => ({ complete: 0 }) as object, /invalid grades \(the result: .*complete/],
    ['returns nothing', () => undefined as never, /invalid grades \(the result: /],
  ])('[promise 1] that %s leaves the default grades, and the decision says so', async (_, grader, why) => {
    const { run } = graded(grader);
    const answer = await run.answer;
    expect(answer.status).toBe('completed');
    expect(rulesOf(run)).toEqual(['confidenceReached']);
    expect(answer.metadata.decision?.rationale).toMatch(/; the default grades count, because the grader failed: /);
    expect(answer.metadata.decision?.rationale).toMatch(why);
  });

  it('[C8] that never returns is stopped by the deadline of Yield', async () => {
    let stopped = false;
    const { run, clock } = graded((_, { signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      return new Promise(() => {});
    });
    await settle();
    expect(JSON.stringify(run.ref.getSnapshot().value)).toContain('grading');
    clock.increment(120_000);
    const { metadata } = await run.answer;
    expect(metadata.decision?.rationale).toContain('the grader failed: it did not finish within 120000 ms');
    expect(stopped).toBe(true);
  });

  it('[promise 6] is not called by a replay, and not again by a resumed run', async () => {
    const grader = vi.fn(() => ({ completion: 0.1 }));
    const journals = memoryJournals();
    const chain = createPostChain({
      profile: ONE_CALL_PER_PHASE,
      model: plannedModel(claim),
      grader,
      journals,
      limits: { maxCycles: 2 },
    });
    const run = chain.run({ request: 'Is it so?' });
    const answer = await run.answer;
    expect(grader).toHaveBeenCalledTimes(2);
    const replayed = replay(run.entries);
    expect(replayed.divergence).toBeNull();
    expect(replayed.answer).toEqual(answer);

    const first = run.entries.findIndex((entry) => entry.type === 'decision');
    const cut = killedAfter(run.entries.slice(0, first + 1), run.id);
    const later = createPostChain({
      profile: ONE_CALL_PER_PHASE,
      model: plannedModel(claim),
      grader,
      journals: cut,
      limits: { maxCycles: 2 },
    });
    expect(await (await later.resume(run.id)).answer).toMatchObject({ answerText: answer.answerText });
    expect(grader).toHaveBeenCalledTimes(3);
  });

  it('is refused together with a grading model, and if it is not a function', () => {
    const gradingModel = judgeThat(believed);
    expect(() => createPostChain({ profile: ONE_CALL_PER_PHASE, grader: () => ({}), gradingModel })).toThrow(
      'grader and gradingModel: pass one of them; received both.',
    );
    expect(() => createPostChain({ profile: ONE_CALL_PER_PHASE, grader: 'strict' as never })).toThrow(
      /grader: expected a function/,
    );
    expect(() => createPostChain({ profile: ONE_CALL_PER_PHASE, gradingModel: {} as never })).toThrow(
      /gradingModel: expected /,
    );
  });
});

describe('a grading model', () => {
  const judged = (reply: ScriptedReply, options = {}) => {
    const gradingModel = judgeThat(reply);
    return { ...startScripted(claim, { gradingModel, limits: { maxCycles: 2 }, ...options }), gradingModel };
  };

  it.each<[string, ScriptedReply]>([
    ['garbage', { text: 'What a fine answer!' }],
    ['grades out of range', { ...believed, grounding: 7 }],
    ['an outage', { failure: { retryable: false, message: 'out of order' } }],
  ])('[promise 1] that replies with %s leaves the default grades, and the decision says so', async (_, reply) => {
    const { run } = judged(reply);
    const { status, metadata } = await run.answer;
    expect(status).toBe('completed');
    expect(metadata.decision).toMatchObject({
      rule: 'confidenceReached',
      rationale: expect.stringContaining('; the default grades count, because the grader failed: '),
    });
  });

  it('[E9] counts toward the usage and the cost of the run', async () => {
    const usage = { inputTokens: 1_000, outputTokens: 500, estimated: false };
    const price = { inputPerMillion: 10, outputPerMillion: 20 };
    const { run } = judged(
      { reply: believed, usage },
      { prices: { currency: 'EUR', models: { scripted: { inputPerMillion: 0, outputPerMillion: 0 }, judge: price } } },
    );
    const { metadata } = await run.answer;
    expect(metadata.usage.modelCalls).toBe(8);
    expect(metadata.cost).toEqual({ amount: 0.02, currency: 'EUR', byTask: { grading: 0.02 }, savedByCache: 0 });
  });

  it.each([
    ['of its task', { grading: { maxCorrections: 0 } }],
    ['of all tasks', { maxCorrections: 0 }],
  ])('[A3] is called again as often as the retry policy %s allows', async (_, policy) => {
    const { run, gradingModel } = judged({ text: 'What a fine answer!' }, { policy });
    await run.answer;
    expect(gradingModel.calls).toHaveLength(1);
  });

  it('[promise 6] is not called by a replay', async () => {
    const { run, gradingModel } = judged({ ...believed, completion: 0 });
    const answer = await run.answer;
    const replayed = replay(run.entries);
    expect(replayed.divergence).toBeNull();
    expect(replayed.answer).toEqual(answer);
    expect(gradingModel.calls).toHaveLength(2);
  });
});
