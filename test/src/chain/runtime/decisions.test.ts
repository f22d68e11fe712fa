import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { phasesOf, rulesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const unsure = (changes = {}) => ({ yield: (call: number) => unsureAnswer(call, changes) });

describe('decisions of a run', () => {
  it('[C1] complete after six phases in order when the answer is confident', async () => {
    const { run, model } = startScripted();
    const answer = await run.answer;
    expect(phasesOf(run)).toEqual([...PHASES]);
    expect(model.calls.map(({ task }) => task)).toEqual([...PHASES, 'synthesis']);
    expect(rulesOf(run)).toEqual(['confidenceReached']);
    expect(answer).toMatchObject({ answerText: 'It is so, for certain.', status: 'completed' });
  });

  it.each([
    ['cycleLimitReached', unsure(), { maxCycles: 1 }, 'degraded'],
    ['cycleLimitReached', { yield: replies.yield }, { maxCycles: 1 }, 'completed'],
    ['confidenceReached', { yield: replies.yield }, {}, 'completed'],
    ['answerConverged', { yield: { ...replies.yield, confidence: 0.5 } }, {}, 'completed'],
    ['taskComplete', unsure({ taskComplete: true }), {}, 'completed'],
    ['loopDetected', { yield: (call: number) => unsureAnswer(call % 2) }, {}, 'degraded'],
  ])('[Y1] [Y2] complete by %s (case %#)', async (rule, plan, limits, status) => {
    const { run } = startScripted(plan, { limits });
    const answer = await run.answer;
    expect(rulesOf(run).at(-1)).toBe(rule);
    expect(answer.status).toBe(status);
    expect(answer.metadata.decision).toMatchObject({ rule, complete: true });
  });

  it('[Y2] complete by the budget when the last call of a cycle used it up', async () => {
    const { run } = startScripted(unsure(), { limits: { maxModelCalls: 6 } });
    const answer = await run.answer;
    expect(rulesOf(run)).toEqual(['budgetExhausted']);
    expect(answer.metadata.reason).toBe('budget_exhausted');
  });

  it('stop between two phases when the budget is used up there', async () => {
    const { run, model } = startScripted(unsure(), { limits: { maxModelCalls: 2 } });
    const answer = await run.answer;
    expect(model.calls.map(({ task }) => task)).toEqual(['action', 'experience', 'synthesis']);
    expect(answer.metadata).toMatchObject({ reason: 'budget_exhausted', cycles: 0 });
  });

  it('[Y6] pass a continuation prompt, a number, and an origin to the next cycle', async () => {
    const missing = { ...replies.experience, missing: ['the date'] };
    const { run, model } = startScripted(
      { ...unsure({ informationSufficiency: 0.2 }), experience: missing },
      { limits: { maxCycles: 2 } },
    );
    await run.answer;
    const second = model.calls.filter(({ task }) => task === 'experience')[1]?.input;
    expect(second).toMatchObject({ cycle: 2, prompt: expect.stringContaining('Still missing: the date.') });
    expect(run.actor.getSnapshot().context.recursion).toMatchObject({
      cycle: 2,
      completedCycles: 2,
      origin: 'experience',
    });
  });
});
