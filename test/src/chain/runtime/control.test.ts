import { describe, expect, it } from 'vitest';
import { PHASES, TASKS } from '../../../../machines/contracts/phase.ts';
import {
  entriesOf,
  everyTask,
  phasesOf,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const unsure = { yield: (call: number) => unsureAnswer(call) };

describe('run control', () => {
  it.each(TASKS)('[E3] answers immediately when canceled during %s and states the cancellation', async (task) => {
    const { run, model } = startScripted(
      { ...everyTask.plan, [task]: { hang: true } },
      everyTask.options,
      everyTask.run,
    );
    await settle();
    run.cancel('changed my mind');
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'cancelled', metadata: { reason: 'cancelled', degraded: true } });
    expect(answer.answerText).not.toBe('');
    expect(answer.notes).toContain('changed my mind');
    expect(model.calls.at(-1)?.task).toBe(task);
  });

  it('counts the calls of phases that a client keeps redirecting, so that its limits hold', async () => {
    const { run, model } = startScripted({ intention: { hang: true } }, { limits: { maxModelCalls: 6 } });
    for (let sent = 0; sent < 50; sent += 1) {
      await settle();
      sendAnswer(run, { type: 'run.directed', phase: 'intention' });
    }
    expect(await run.answer).toMatchObject({ metadata: { reason: 'budget_exhausted' } });
    expect(model.calls.filter(({ task }) => task !== 'synthesis')).toHaveLength(6);
  });

  it('distinguishes an interruption by the host from a cancellation by the user', async () => {
    const controller = new AbortController();
    const { run } = startScripted({ intention: { hang: true } }, {}, { signal: controller.signal });
    await settle();
    controller.abort();
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'degraded', metadata: { reason: 'interrupted' } });
    expect(entriesOf(run, 'delivery').map(({ event }) => event.type)).toEqual(['run.interrupted']);
  });

  it('answers when the signal was aborted before the start', async () => {
    const { run } = startScripted({}, {}, { signal: AbortSignal.abort() });
    expect(await run.answer).toMatchObject({ status: 'degraded', metadata: { reason: 'interrupted', cycles: 0 } });
  });

  it('stops the phases and lets the model write the answer on run.finished', async () => {
    const { run, model } = startScripted({ observation: { hang: true } });
    await settle();
    run.send({ type: 'run.finished' });
    const answer = await run.answer;
    expect(answer.answerText).toBe('It is so, for certain.');
    expect(answer.metadata.missingFields).toEqual(expect.arrayContaining(['observation', 'yield', 'answer']));
    expect(model.calls.at(-1)?.task).toBe('synthesis');
  });

  it.each(PHASES)('[Y4] continues with %s on run.directed during another phase', async (phase) => {
    let hangs = true;
    const { run } = startScripted({
      intention: () => (hangs ? { hang: true } : { text: JSON.stringify({}) }),
      yield: (call: number) => unsureAnswer(call, { confidence: 1 }),
    });
    await settle();
    hangs = false;
    sendAnswer(run, { type: 'run.directed', phase, prompt: 'Look again.' });
    await settle();
    expect(phasesOf(run)[3]).toBe(phase);
    const directed = entriesOf(run, 'transition').find(({ event }) => event === 'run.directed');
    expect(directed?.candidates[0]).toMatchObject({ guard: 'directionPossible', result: 'taken', inputs: { phase } });
    run.cancel();
    await run.answer;
  });

  it('[Y5] rejects a direction that is not a phase and changes nothing', async () => {
    const { run } = startScripted({ intention: { hang: true } });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'dessert' });
    await settle();
    expect(entriesOf(run, 'direction-refused').map(({ received }) => received)).toEqual(['dessert']);
    expect(run.actor.getSnapshot().value).toEqual({ cycling: { intention: 'calling' } });
    run.cancel();
    await run.answer;
  });

  it('[Y4] waits for the user after each cycle in manual mode', async () => {
    const { run, model } = startScripted(unsure, {}, { mode: 'manual' });
    await settle();
    expect(entriesOf(run, 'direction-asked')).toMatchObject([{ cycle: 1, proposal: 'action' }]);
    sendAnswer(run, { type: 'run.directed', phase: 'nowhere' });
    sendAnswer(run, { type: 'run.directed', phase: 'yield', prompt: 'Only look again.' });
    await settle();
    expect(phasesOf(run)).toEqual([...PHASES, 'yield']);
    expect(model.calls.at(-1)?.input).toMatchObject({ cycle: 2, prompt: 'Only look again.' });
    expect(entriesOf(run, 'decision').map(({ decision }) => decision.rule)).toEqual(['directedByUser']);
    run.send({ type: 'run.finished' });
    expect(await run.answer).toMatchObject({ status: 'completed', metadata: { cycles: 2 } });
  });

  it('[Y1] [Y4] recommends to complete in manual mode, and the user may decline', async () => {
    const { run } = startScripted({}, {}, { mode: 'manual' });
    await settle();
    const [asked] = entriesOf(run, 'direction-asked');
    expect(asked?.recommendation).toMatchObject({ rule: 'confidenceReached', complete: true, nextPhase: null });
    expect(asked?.recommendation?.rationale).toBe(
      'the answer is confident enough (confidence 0.95, above 0.9, modelConfidence 0.95, grounding null)',
    );
    sendAnswer(run, { type: 'run.directed', phase: 'intention' });
    await settle();
    expect(entriesOf(run, 'phase-start').filter(({ cycle }) => cycle === 2)).toHaveLength(4);
    expect(entriesOf(run, 'direction-asked').map(({ recommendation }) => recommendation?.rule)).toEqual([
      'confidenceReached',
      'confidenceReached',
    ]);
    run.send({ type: 'run.finished' });
    expect(await run.answer).toMatchObject({ status: 'completed', metadata: { cycles: 2 } });
  });

  it.each([
    ['answerConverged', { confidence: 0.5 }, {}],
    ['taskComplete', { confidence: 0.5, taskComplete: true }, { change: 0 }],
    ['loopDetected', { confidence: 0.5 }, { change: 0 }],
  ])('[Y4] recommends to complete by %s in manual mode', async (rule, said, thresholds) => {
    const { run } = startScripted({ yield: unsureAnswer(1, said) }, { thresholds }, { mode: 'manual' });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'action' });
    await settle();
    expect(entriesOf(run, 'direction-asked').at(-1)?.recommendation).toMatchObject({ rule, complete: true });
    run.cancel();
    await run.answer;
  });

  it('[Y2] [Y4] completes by the cycle limit and by the budget in manual mode, without asking', async () => {
    for (const [limits, rule] of [
      [{ maxCycles: 1 }, 'cycleLimitReached'],
      [{ maxModelCalls: 6 }, 'budgetExhausted'],
    ] as const) {
      const { run } = startScripted(unsure, { limits }, { mode: 'manual' });
      expect((await run.answer).metadata.decision?.rule).toBe(rule);
      expect(entriesOf(run, 'direction-asked')).toEqual([]);
    }
  });

  it('ignores events after the end and rejects invalid ones by name', async () => {
    const { run } = startScripted();
    await run.answer;
    const before = run.journal.length;
    run.cancel();
    expect(run.journal).toHaveLength(before);
    expect(() => run.send({ type: 'run.exploded' } as never)).toThrow(
      /event: expected one of .*; received .*run.exploded/,
    );
  });
});
