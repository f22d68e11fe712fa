import { describe, expect, it } from 'vitest';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aPassage } from '../../../support/contract-samples.ts';
import { entriesOf, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const QUESTION = 'When was the harbor bridge opened?';
const FOUND = 'The harbor bridge was opened on 19 March 1932.';
const turns = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ role: 'user' as const, content: `Note ${at}: buy milk.` }));
const documents = {
  search: async (query: string) => ({ query, passages: [aPassage({ id: 'p', text: FOUND })], widened: false }),
};

describe('a long history with space left in the context window', () => {
  const talk = (count: number) =>
    turns(count).flatMap((turn) => [turn, { role: 'assistant' as const, content: 'Noted.' }]);

  it.each([
    ['300 user messages', turns(300), 'keep'],
    ['300 user messages, with consent to ask for', turns(300), 'ask'],
    ['500 messages', talk(250), 'keep'],
  ] as const)('[U4] [U10] degrades no answer, and asks nothing: %s', async (_, history, consent) => {
    const { run } = startScripted({ yield: { ...replies.yield, answer: 'In 1932.' } }, { consent }, { history });
    const { metadata, notes } = await run.answer;
    expect(metadata).toMatchObject({ degraded: false, reason: null });
    expect(notes).toBe('');
    expect(entriesOf(run, 'consent-asked')).toEqual([]);
    const left = run.actor.getSnapshot().context.messages;
    expect(left.filter(({ id, role }) => role === 'user' && id !== 'request')).toHaveLength(
      history.filter(({ role }) => role === 'user').length,
    );
  });

  it('[U10] leaves room for the passages that the run finds, so that the answer uses them', async () => {
    const run = createPostChain({ documents }).run({ request: QUESTION, history: turns(198) });
    const answer = await run.answer;
    expect(answer.answerText).toContain('19 March 1932');
    expect(answer.status).toBe('completed');
  });

  it('[Y3] [U10] does not make the run return to Understanding in every cycle', async () => {
    const notes = Array.from({ length: 30 }, (_, at) => ({ role: 'assistant' as const, content: `Answer ${at}.` }));
    const { run } = startScripted(
      { yield: (call: number) => unsureAnswer(call, { informationSufficiency: 0.9, proposedPhase: 'action' }) },
      { consent: 'keep', limits: { maxCycles: 8, maxMessages: 20 } },
      { history: [...turns(40), ...notes] },
    );
    await run.answer;
    const next = entriesOf(run, 'decision').map(({ decision }) => decision.nextPhase);
    expect(next).toContain('action');
    expect(next.filter((phase, at) => phase === 'understanding' && next[at - 1] === phase)).toEqual([]);
  });
});
