import { describe, expect, it } from 'vitest';
import type { SessionStore } from '../../../../machines/contracts/session.ts';
import { throwing } from '../../../support/errors.ts';
import { entriesOf, settle, startScripted } from '../../../support/run-chain.ts';
import { aTurn, neverSettles, startInSession, stubSessions } from '../../../support/sessions.ts';

/** How the notes of an answer begin that was given without all of its session. */
const SESSION_NOTE = 'Part of the session was not recalled:';

const proxied = new Proxy([], { get: throwing('a trap') });

describe('a store that fails to recall', () => {
  it.each<[string, () => unknown, string]>([
    ['throws', throwing('no such host\nat line 1'), 'no such host'],
    [
      'throws a non-error',
      () => {
        throw Object.create(null);
      },
      'an error without readable text',
    ],
    ['rejects', () => Promise.reject(new Error('gone')), 'gone'],
    ['returns null', () => null, 'the session store returned no list of turns'],
    ['returns a list of invalid turns', () => [null, 'x', { runId: 1 }], '3 of 3 turns could not be read'],
    ['returns a list that throws', () => proxied, 'a trap'],
    [
      'returns a turn with an invalid id',
      () => [Object.defineProperty({}, 'runId', { get: () => null })],
      '1 of 1 turns could not be read',
    ],
    // biome-ignore lint/suspicious/noThenProperty: a throwing thenable is the input under test
    ['returns a thenable that throws', () => ({ then: () => JSON.parse('{') }), 'JSON'],
  ])('[E3] because it %s is skipped, and the answer says so', async (name, recalled, said) => {
    const sessions = stubSessions({ recall: recalled });
    const { run } = startInSession(sessions);
    const answer = await run.answer;
    expect(answer).toMatchObject({ status: 'completed', answerText: 'It is so, for certain.' });
    expect(answer.notes).toContain(SESSION_NOTE);
    expect(answer.notes, name).toContain(said);
    expect(entriesOf(run, 'session-recalled')).toMatchObject([
      { sessionId: 'u42', turns: 0, messages: [], problem: expect.stringContaining(said) },
    ]);
    expect(sessions.appends).toHaveLength(1);
  });

  it('and reports it contributes what it returned, and the answer says so', async () => {
    const store: SessionStore = {
      recall: (_, { onProblem }) => {
        onProblem?.('a row is damaged');
        onProblem?.('and another');
        return [aTurn()];
      },
      append: () => {},
    };
    const { run } = startScripted({}, { sessions: store }, { sessionId: 'u42' });
    expect((await run.answer).notes).toBe(`${SESSION_NOTE} a row is damaged.`);
    expect(entriesOf(run, 'session-recalled')).toMatchObject([{ turns: 1, problem: 'a row is damaged' }]);
  });

  it('by never answering is awaited for `sessionMs` and then aborted', async () => {
    const sessions = stubSessions({ recall: () => neverSettles });
    const { run, clock, model } = startInSession(sessions);
    await settle();
    clock.increment(4_999);
    await settle();
    expect([model.calls.length, sessions.recalls[0]?.signal.aborted]).toEqual([0, false]);
    clock.increment(1);
    expect(sessions.recalls[0]?.signal.aborted).toBe(true);
    const answer = await run.answer;
    expect(answer.status).toBe('completed');
    expect(answer.notes).toBe(`${SESSION_NOTE} the session store did not respond within 5000 ms.`);
    expect(clock.openTimers).toBe(0);
  });
});

describe('a store that fails to remember', () => {
  it.each<[string, () => unknown, string]>([
    ['throws', throwing('a full disk'), 'a full disk'],
    ['rejects', () => Promise.reject(new Error('gone')), 'gone'],
    ['rejects with undefined', () => Promise.reject(), 'undefined'],
  ])('[E3] and %s is reported, and the answer is unchanged', async (_, appended, said) => {
    const { run } = startInSession(stubSessions({ append: appended }));
    const answer = await run.answer;
    expect(answer).toEqual(await startScripted().run.answer);
    expect(entriesOf(run, 'session-stored')).toMatchObject([{ sessionId: 'u42', problem: said }]);
    expect(run.entries.slice(-3).map(({ type }) => type)).toEqual(['session-stored', 'answer', 'end']);
  });

  it('[C8] with a recall failure and a hanging model stays within the run timeout', async () => {
    const store = stubSessions({ recall: () => neverSettles, append: () => neverSettles });
    const { run, clock } = startInSession(
      store,
      { action: { hang: true }, synthesis: { hang: true } },
      { limits: { totalMs: 8_000, firstChunkMs: 10_000, sessionMs: 5_000 } },
    );
    for (let ms = 0; ms < 8_000; ms += 250) {
      await settle(10);
      clock.increment(250);
    }
    await settle();
    expect(run.ref.getSnapshot().status).toBe('done');
    expect((await run.answer).metadata.reason).toBe('deadline_passed');
  });
});
