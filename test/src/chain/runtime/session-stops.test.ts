import { describe, expect, it } from 'vitest';
import { PHASES } from '../../../../machines/contracts/phase.ts';
import { entriesOf, phasesOf, settle } from '../../../support/run-chain.ts';
import { aTurn, neverSettles, startInSession, stubSessions } from '../../../support/sessions.ts';

describe('stopping a run with a session', () => {
  const events = ['run.cancelled', 'run.interrupted'] as const;

  it.each(events)('by %s during recall answers immediately, and the session remembers it', async (type) => {
    const sessions = stubSessions({ recall: () => neverSettles });
    const { run, model } = startInSession(sessions);
    await settle();
    expect(run.ref.getSnapshot().value).toEqual({ cycling: 'recalling' });
    run.send({ type });
    const { status } = await run.answer;
    expect(status).toBe(type === 'run.cancelled' ? 'cancelled' : 'degraded');
    expect([model.calls.length, sessions.recalls[0]?.signal.aborted]).toEqual([0, true]);
    expect(sessions.appends).toMatchObject([{ sessionId: 'u42', turn: { request: 'Is it so?', status } }]);
    expect(entriesOf(run, 'session-recalled')).toEqual([]);
  });

  it.each(events)('by %s while the turn is stored ends immediately with the existing answer', async (type) => {
    const sessions = stubSessions({ append: () => neverSettles });
    const { run } = startInSession(sessions);
    await settle(100);
    expect(run.ref.getSnapshot().value).toBe('remembering');
    run.send({ type });
    expect((await run.answer).status).toBe('completed');
    expect(sessions.appends[0]?.signal.aborted).toBe(true);
    expect(entriesOf(run, 'session-stored')).toMatchObject([
      { problem: 'the run was stopped before the session store responded' },
    ]);
  });

  it('by stopping the actor while the turn is stored keeps the answer', async () => {
    const { run } = startInSession(stubSessions({ append: () => neverSettles }));
    await settle(100);
    expect(run.ref.getSnapshot().value).toBe('remembering');
    run.ref.stop();
    expect((await run.answer).status).toBe('completed');
    expect(entriesOf(run, 'answer')).toHaveLength(1);
  });

  it('twice ends it immediately in any state', async () => {
    const sessions = stubSessions({ append: () => neverSettles });
    const { run } = startInSession(sessions, { intention: { hang: true } });
    await settle();
    run.cancel('never mind');
    run.cancel();
    const answer = await run.answer;
    expect(answer.status).toBe('cancelled');
    expect(answer.notes).toContain('never mind');
    expect(sessions.appends).toMatchObject([{ turn: { status: 'cancelled' } }]);
  });

  it.each(PHASES)('[Y4] by a direction to %s during recall waits for the session', async (phase) => {
    let answer: (turns: unknown) => void = () => {};
    const { run } = startInSession(stubSessions({ recall: () => new Promise((resolve) => (answer = resolve)) }), {
      yield: { hang: true },
    });
    await settle();
    run.send({ type: 'run.directed', phase: 'nowhere' });
    run.send({ type: 'run.directed', phase, prompt: 'Look there.' });
    await settle();
    expect(run.ref.getSnapshot().value).toEqual({ cycling: 'recalling' });
    answer([aTurn()]);
    await settle();
    expect(phasesOf(run)[0]).toBe(phase);
    expect(entriesOf(run, 'direction-refused')).toHaveLength(1);
    expect(entriesOf(run, 'session-recalled')).toMatchObject([{ turns: 1 }]);
  });
});
