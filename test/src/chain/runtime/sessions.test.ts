import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { journalEntrySchema } from '../../../../machines/contracts/journal.ts';
import type { PhaseInput } from '../../../../machines/contracts/phase-io.ts';
import { contextOf } from '../../../../machines/policies/context.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import { memorySessions } from '../../../../src/chain/runtime/memory-sessions.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { capabilityNamed, entriesOf, ONE_CALL_PER_PHASE, settle, startScripted } from '../../../support/run-chain.ts';
import { aTurn, recall, startInSession, stubSessions } from '../../../support/sessions.ts';

const work = capabilityNamed('work', () => 'the work is done');
const call = { capability: 'work', arguments: '{}' };

/** A chain with a model that sends the same reply to every request; its runs are named run-1, run-2, … */
function aChain(options: Parameters<typeof createPostChain>[0] = {}, script: Parameters<typeof scriptedModel>[0] = {}) {
  let runs = 0;
  const model = scriptedModel(script, { otherwise: replies });
  const newId = (): string => {
    runs += 1;
    return `run-${runs}`;
  };
  return { chain: createPostChain({ profile: ONE_CALL_PER_PHASE, newId, ...options, model }), model };
}

/** Returns the context shown to the model in its first call for a request. */
const shownFor = (model: ReturnType<typeof scriptedModel>, request: string) =>
  (model.calls.map(({ input }) => input as PhaseInput).find((input) => input.request === request)?.messages ?? []).map(
    ({ id, role, content }) => [id, role, content],
  );

describe('a session', () => {
  it('[R2] [R4] shows the second request the first one with its runs and answer', async () => {
    const sessions = memorySessions();
    const { chain, model } = aChain(
      { capabilities: [work], sessions },
      { action: [{ ...replies.action, calls: [call] }, replies.action] },
    );
    await chain.run({ request: 'My name is Ada.', sessionId: 'u42' }).answer;
    await chain.run({ request: 'What is my name?', sessionId: 'u42', history: [{ role: 'user', content: 'Hello.' }] })
      .answer;
    expect(shownFor(model, 'What is my name?')).toEqual([
      ['earlier.1.request', 'user', 'My name is Ada.'],
      ['earlier.1.run1', 'assistant', 'work: the work is done'],
      ['earlier.1.answer', 'assistant', 'It is so, for certain.'],
      ['earlier.1.s4.m1', 'assistant', 'It is so'],
      ['earlier.h1', 'user', 'Hello.'],
      ['request', 'user', 'What is my name?'],
    ]);
    expect((await recall(sessions, 'u42')).map(({ runId, request, runs }) => [runId, request, runs.length])).toEqual([
      ['run-1', 'My name is Ada.', 1],
      ['run-2', 'What is my name?', 0],
    ]);
  });

  it('without a store lasts as long as its chain and is not shared with other chains', async () => {
    const { chain, model } = aChain({}, {});
    await chain.run({ request: 'One.', sessionId: 'u42' }).answer;
    await chain.run({ request: 'Two.', sessionId: 'u42' }).answer;
    expect(shownFor(model, 'Two.').map(([id]) => id)).toEqual([
      'earlier.1.request',
      'earlier.1.answer',
      'earlier.1.s4.m1',
      'request',
    ]);
    const other = aChain();
    await other.chain.run({ request: 'Three.', sessionId: 'u42' }).answer;
    expect(shownFor(other.model, 'Three.')).toHaveLength(1);
  });

  it('is never shared with another id', async () => {
    const { chain, model } = aChain();
    for (const sessionId of ['u42', 'U42', ' u42', 'u42%', '__proto__'])
      await chain.run({ request: `I am ${sessionId}.`, sessionId }).answer;
    for (const sessionId of ['u42', 'U42', ' u42', 'u42%', '__proto__'])
      expect(shownFor(model, `I am ${sessionId}.`)).toHaveLength(1);
  });

  it('costs nothing for a request without one: no store call, state, or event', async () => {
    const sessions = stubSessions({});
    const { run } = startScripted({}, { sessions });
    const answer = await run.answer;
    expect([sessions.recalls.length, sessions.appends.length]).toEqual([0, 0]);
    const entered = entriesOf(run, 'transition').flatMap(({ target }) => target);
    expect(entered.filter((id) => /recalling|remembering/.test(id))).toEqual([]);
    expect(run.entries.filter(({ type }) => type.startsWith('session'))).toEqual([]);
    expect(answer.notes).toBe('');
  });

  it('recalls the newest `sessionTurns` turns in full, ten by default, and asks the store for one more', async () => {
    const sessions = stubSessions({ recall: () => Array.from({ length: 10_000 }, (_, at) => aTurn(`r${at}`)) });
    const { run } = startInSession(sessions);
    await run.answer;
    expect(sessions.recalls).toMatchObject([{ sessionId: 'u42', turns: 11 }]);
    expect(entriesOf(run, 'session-recalled')).toMatchObject([
      { sessionId: 'u42', turns: 10, problem: 'the answers of 1 of 11 turns' },
    ]);
    const [oldest, next] = run.ref.getSnapshot().context.messages;
    expect([oldest?.content, next?.content]).toEqual(['What of r9989?', 'What of r9990?']);
  });

  it('with `sessionTurns` at 0 recalls nothing but still remembers', async () => {
    const sessions = stubSessions({ recall: () => [aTurn()] });
    const { run } = startInSession(sessions, {}, { limits: { sessionTurns: 0 } });
    await run.answer;
    expect([sessions.recalls.length, sessions.appends.length]).toEqual([0, 1]);
    expect(entriesOf(run, 'session-recalled')).toEqual([]);
  });

  it('[R4] loses at most one turn to a request with a hundred capability runs', async () => {
    const sessions = memorySessions({ maxTurns: 3 });
    const { chain } = aChain(
      {
        capabilities: [work],
        sessions,
        continuation: () => ({ done: false, next: call }),
        limits: { maxContinuations: 100 },
      },
      { action: [replies.action, replies.action, replies.action, { ...replies.action, calls: [call] }] },
    );
    for (const request of ['One.', 'Two.', 'Three.', 'Four.']) await chain.run({ request, sessionId: 'u42' }).answer;
    const turns = await recall(sessions, 'u42');
    expect(turns.map(({ request, runs }) => [request, runs.length])).toEqual([
      ['Two.', 0],
      ['Three.', 0],
      ['Four.', 64],
    ]);
  });

  it('of two concurrent runs: both recall the turns at their start, and the first to end is stored first', async () => {
    const sessions = memorySessions();
    const plan = { intention: { hang: true } } as const;
    const slow = startScripted(plan, { sessions, newId: () => 'slow' }, { sessionId: 'u42', request: 'Slow?' });
    const quick = startScripted({}, { sessions, newId: () => 'quick' }, { sessionId: 'u42', request: 'Quick?' });
    await quick.run.answer;
    slow.run.cancel();
    await slow.run.answer;
    for (const { run } of [slow, quick]) expect(entriesOf(run, 'session-recalled')).toMatchObject([{ turns: 0 }]);
    expect((await recall(sessions, 'u42')).map(({ runId, status }) => [runId, status])).toEqual([
      ['quick', 'completed'],
      ['slow', 'cancelled'],
    ]);
  });

  it('[U12] is contained in the journal, from which alone the context can be folded', async () => {
    const turn = aTurn('r1', { runs: [{ capability: 'work', success: true, summary: 'done' }] });
    const { run } = startInSession(stubSessions({ recall: () => [turn] }));
    await run.answer;
    for (const entry of run.entries) journalEntrySchema.parse(JSON.parse(JSON.stringify(entry)));
    const history = contextHistory(run.entries);
    expect(contextOf(history)).toEqual(run.ref.getSnapshot().context.messages);
    expect(history.initial.map(({ id }) => id)).toEqual([
      'earlier.1.request',
      'earlier.1.run1',
      'earlier.1.answer',
      'request',
    ]);
    expect(entriesOf(run, 'session-stored')).toMatchObject([{ sessionId: 'u42', problem: null }]);
  });

  it('[R2] is available to the bare machine', async () => {
    const model = scriptedModel({}, { otherwise: replies });
    const chain = createBareChain({ model });
    const ask = (request: string) =>
      toPromise(
        createActor(chain.createMachine(), { input: chain.createInput({ request, sessionId: 'u42' }) }).start(),
      );
    await ask('My name is Ada.');
    await ask('What is my name?');
    expect(shownFor(model, 'What is my name?').map(([id]) => id)).toEqual([
      'earlier.1.request',
      'earlier.1.answer',
      'request',
    ]);
  });

  it('[U4] [U8] asks about a long user message of an earlier turn as about any other, and keeps it meanwhile', async () => {
    const request = 'It is a long story. '.repeat(100);
    const { run, clock } = startInSession(stubSessions({ recall: () => [aTurn('r1', { request })] }));
    await settle(200);
    expect(run.ref.getSnapshot().context.messages[0]).toMatchObject({ content: request, tags: [] });
    clock.increment(120_000);
    await run.answer;
    const asked = entriesOf(run, 'consent-asked').flatMap(({ request: { items } }) => items);
    expect(asked).toMatchObject([{ messageId: 'earlier.1.request', chars: request.length }]);
    expect(run.ref.getSnapshot().context.messages[0]?.content).toBe(request);
  });
});
