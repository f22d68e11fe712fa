import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { assistantMessage, userMessage, userTexts } from '../../../support/retention.ts';
import { settle, startBareChain, unsureAnswer } from '../../../support/run-chain.ts';

describe('a bare machine started with unvalidated messages', () => {
  // A rule that throws would end the run without an answer.
  it.each([
    ['an unknown role', { role: 'system' }],
    ['no content', { content: null }],
    ['no tags', { tags: undefined }],
    ['tags that are not strings', { tags: [7] }],
    ['a source without a path', { source: {} }],
    ['an importance that is not a number', { importance: Number.NaN }],
    ['an infinite cycle', { cycle: Number.POSITIVE_INFINITY }],
    ['references to nothing', { references: ['w', 'earlier.w', 'nobody'] }],
  ])('[U3] [U11] [E3] answers with a message that has %s', async (_, odd) => {
    const messages = [{ ...assistantMessage('w', 'So.'), ...odd } as Message, userMessage('u', 'Hello.')];
    const { actor, broken, state } = await startBareChain(
      { messages },
      { yield: (call: number) => unsureAnswer(call) },
    );
    expect(broken.error).toBeNull();
    expect(actor.getSnapshot().status).toBe('done');
    expect(userTexts(state().messages)).toContain('Hello.');
  });

  it.each([{}, { choice: 7 }, { choice: 'keep', items: null }])(
    '[U8] keeps everything for a consent reply %j',
    async (given) => {
      const text = 'It is a long story. '.repeat(80);
      const { actor, broken, state } = await startBareChain({ messages: [userMessage('l', text)] });
      actor.send({ type: 'consent.given', ...given } as never);
      await settle(100);
      expect(broken.error).toBeNull();
      expect(userTexts(state().messages)).toContain(text);
    },
  );
});
