import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { SessionStore } from '../../../../machines/contracts/session.ts';
import { memorySessions } from '../../../../src/chain/runtime/memory-sessions.ts';
import type { RunOptions } from '../../../../src/chain/runtime/run-options.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aMessage } from '../../../support/contract-samples.ts';
import { entriesOf, type Plan, sendAnswer, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

type Options = Parameters<typeof startScripted>[1];

let runs = 0;

/** Starts a request of the session "chat". Every run has an id of its own. */
function start(
  sessions: SessionStore,
  request: string,
  plan: Plan = {},
  options: Options = {},
  run: Partial<RunOptions> = {},
) {
  runs += 1;
  const newId = (): string => `run-${runs}`;
  return startScripted(plan, { sessions, newId, ...options }, { request, sessionId: 'chat', ...run });
}

async function ask(...args: Parameters<typeof start>) {
  const started = start(...args);
  const answer = await started.run.answer;
  const [recalled] = entriesOf(started.run, 'session-recalled');
  const find = (id: string): Message | undefined => recalled?.messages.find((message) => message.id === id);
  return { ...started, answer, recalled, find };
}

/** Asks enough short questions to push earlier turns out of the full recall. */
async function askOften(sessions: SessionStore, count: number, options: Options = {}) {
  for (let at = 0; at < count; at += 1) await ask(sessions, `Question ${at}?`, {}, options);
}

const LONG = `My name is Ada. ${'It is a long story. '.repeat(100)}`;

describe('a session keeps, whatever its age,', () => {
  it.each([['pinned'], ['critical'], ['important'], ['persist']])('[U15] [C7] a message tagged %s', async (tag) => {
    const sessions = memorySessions();
    const note = aMessage({
      id: 'note',
      phase: null,
      content: 'The code word is heron.',
      tags: [tag],
      importance: 0.9,
    });
    await ask(sessions, 'Remember this.', {}, {}, { messages: [note] });
    await askOften(sessions, 12);
    const { find } = await ask(sessions, 'What is the code word?');
    expect(find('earlier.1.note')).toMatchObject({ content: note.content, tags: [tag], importance: 0.9 });
  });

  it('[U15] [C7] what Observation found: tags, links and insights, and the importance that Intention gave', async () => {
    const sessions = memorySessions();
    await ask(sessions, 'The bridge opened in 1932.');
    const observed = {
      ...replies.observation,
      insights: ['The bridge is older than the opera house.'],
      connections: [{ from: 'earlier.1.request', to: 'request', relation: 'precedes', strength: 0.9 }],
      importance: [{ messageId: 'earlier.1.answer', score: 0.8 }],
    };
    const meant = { ...replies.intention, alignment: [{ messageId: 'earlier.1.answer', score: 0.75 }] };
    await ask(sessions, 'The opera house opened in 1973.', { observation: observed, intention: meant });
    await askOften(sessions, 12);
    const { recalled, find } = await ask(sessions, 'Which is older?');
    expect(find('earlier.1.request')?.links).toEqual([
      { to: 'earlier.2.request', relation: 'precedes', strength: 0.9 },
    ]);
    expect(find('earlier.1.answer')).toMatchObject({ importance: 0.75, tags: ['important', 'persist'] });
    const insights = recalled?.messages.filter(({ phase }) => phase === 'observation').map(({ content }) => content);
    expect(insights?.[0]).toBe('The bridge is older than the opera house.');
  });

  it('[U15] a marked message that a run prunes because it does not concern its request', async () => {
    const sessions = memorySessions();
    const note = aMessage({ id: 'note', phase: 'action', content: 'The code word is heron.', tags: ['persist'] });
    await ask(sessions, 'Remember this.', {}, {}, { messages: [note] });
    const assessments = [{ messageId: 'earlier.1.note', relevance: 0, reason: 'not needed' }];
    const second = await ask(sessions, 'What is two plus two?', {
      understanding: { ...replies.understanding, assessments },
      yield: (call: number) => unsureAnswer(call),
    });
    expect(entriesOf(second.run, 'context-evaluated').flatMap(({ pruningLog }) => pruningLog)).toContainEqual(
      expect.objectContaining({ messageId: 'earlier.1.note', operation: 'PRUNE' }),
    );
    const { find } = await ask(sessions, 'What is the code word?');
    expect(find('earlier.1.note')).toMatchObject({ content: note.content, tags: ['persist'] });
  });

  it('[U15] what does not fit beside a very long request, which later requests get again', async () => {
    const sessions = memorySessions();
    const note = aMessage({ id: 'note', phase: null, content: 'The code word is heron.', tags: ['critical'] });
    await ask(sessions, 'Remember this.', {}, {}, { messages: [note] });
    const long = await ask(sessions, 'Read this. '.repeat(90_000));
    expect(long.find('earlier.1.note')).toBeUndefined();
    expect(long.answer.notes).toContain('1 of 1 turns; 2 kept messages');
    const { find } = await ask(sessions, 'What is the code word?');
    expect(find('earlier.1.note')?.content).toBe(note.content);
    expect(find('earlier.1.request')?.content).toBe('Remember this.');
  });

  it('[U15] the insights of two runs that overlap', async () => {
    const sessions = memorySessions();
    const slow = start(sessions, 'Slow?', {
      observation: { ...replies.observation, insights: ['slow insight'] },
      yield: { hang: true },
    });
    await settle();
    await ask(sessions, 'Quick?', { observation: { ...replies.observation, insights: ['quick insight'] } });
    slow.run.send({ type: 'run.finished' });
    await slow.run.answer;
    const { recalled } = await ask(sessions, 'And?');
    const texts = recalled?.messages.map(({ content }) => content);
    expect(texts).toEqual(expect.arrayContaining(['slow insight', 'quick insight']));
  });
});

describe('consent in a session', () => {
  it.each([
    ['keep', (content: string | undefined) => content === LONG],
    ['summarize', (content: string | undefined) => content !== undefined && content.length <= 200],
    ['remove', (content: string | undefined) => content === undefined],
  ] as const)('[U8] given once as "%s" holds for all later runs', async (choice, fits) => {
    const sessions = memorySessions();
    await ask(sessions, LONG);
    const second = start(sessions, 'Hello?');
    await settle(200);
    sendAnswer(second.run, { type: 'consent.given', choice });
    await second.run.answer;
    await askOften(sessions, 11);
    const third = await ask(sessions, 'And now?');
    expect(entriesOf(third.run, 'consent-asked')).toEqual([]);
    expect(fits(third.find('earlier.1.request')?.content)).toBe(true);
  });

  it('[U8] is asked for again by the next run if no one answered, and no tag claims that the user did', async () => {
    const sessions = memorySessions();
    await ask(sessions, LONG);
    const second = start(sessions, 'Hello?');
    await settle(200);
    second.clock.increment(120_000);
    await second.run.answer;
    const third = start(sessions, 'And now?');
    await settle(200);
    expect(entriesOf(third.run, 'consent-asked')).toHaveLength(1);
    expect(entriesOf(third.run, 'session-recalled')[0]?.messages[0]).toMatchObject({ content: LONG, tags: [] });
  });
});

describe('the size of a session', () => {
  it('[U4] [U15] is bounded by `sessionMessages`, except for the user: insights give way first, and both are reported', async () => {
    const sessions = memorySessions();
    const limits = { sessionTurns: 1, sessionMessages: 3 };
    const note = aMessage({ id: 'note', role: 'assistant', phase: null, content: 'It is heron.', tags: ['critical'] });
    await ask(sessions, 'Remember this.', {}, { limits }, { messages: [note] });
    await askOften(sessions, 5, { limits });
    const insightOf = (text: string) => ({ observation: { ...replies.observation, insights: [text] } });
    for (const at of [1, 2, 3]) await ask(sessions, `Insight ${at}?`, insightOf(`Insight ${at}.`), { limits });
    const { recalled, find, answer } = await ask(sessions, 'What is the code word?', {}, { limits });
    expect(find('earlier.1.note')?.content).toBe(note.content);
    const users = recalled?.messages.filter(({ role }) => role === 'user').map(({ id }) => id);
    expect(users).toEqual(Array.from({ length: 9 }, (_, at) => `earlier.${at + 1}.request`));
    const insights = recalled?.messages.filter(({ phase }) => phase === 'observation').map(({ content }) => content);
    expect(insights).toEqual(['Insight 2.', 'Insight 3.']);
    expect(answer.notes).toMatch(/: the answers of 8 of 9 turns; \d kept messages\.$/);
  });
});
