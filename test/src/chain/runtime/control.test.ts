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
  });

  it('ignores events after the end and rejects invalid ones by name', async () => {
    const { run } = startScripted();
    await run.answer;
    const before = run.entries.length;
    run.cancel();
    expect(run.entries).toHaveLength(before);
    expect(() => run.send({ type: 'run.exploded' } as never)).toThrow(
      /event: expected one of .*; received .*run.exploded/,
    );
  });
});
