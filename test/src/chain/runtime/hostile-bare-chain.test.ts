import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { assistantMessage, searchMessage, userMessage, userTexts } from '../../../support/retention.ts';
import { settle, startBareChain, unsureAnswer } from '../../../support/run-chain.ts';

const unsure = { yield: (call: number) => unsureAnswer(call) };
const LONG = 'It is a long story. '.repeat(80);

describe('a bare machine started with unvalidated messages', () => {
  const own = userMessage('x', 'I live in a small town.');
  const other = searchMessage('x', 'Tide tables of the north.');

  it('[U4] [U8] keeps the user message if a later search result has the same id', async () => {
    const { state } = await startBareChain({ messages: [own, other] }, unsure);
    expect(userTexts(state().messages)).toContain(own.content);
  });

  it('[U4] [U8] keeps the user message if an earlier search result has the same id', async () => {
    const { state } = await startBareChain({ messages: [other, own] }, unsure);
    expect(userTexts(state().messages)).toContain(own.content);
  });

  // Guards against a missing rule for the role, which would throw during a transition and end the run without an answer.
  it.each([
    ['an unknown role', { role: 'system' }],
    ['no content', { content: null }],
    ['no tags', { tags: undefined }],
    ['tags that are not strings', { tags: [7] }],
    ['no source', { source: undefined }],
    ['a source without a path', { source: {} }],
  ])('[U3] [E3] always answers with a message that has %s', async (_, odd) => {
    const { actor, broken } = await startBareChain({
      messages: [{ ...assistantMessage('w', 'So.'), ...odd } as Message],
    });
    expect(broken.error).toBeNull();
    expect(actor.getSnapshot().status).toBe('done');
  });

  it.each([
    ['importance', { importance: Number.NaN }],
    ['time', { createdAtMs: Number.NEGATIVE_INFINITY }],
    ['cycle', { cycle: Number.POSITIVE_INFINITY }],
    ['cycle', { cycle: Number.NaN }],
    ['references', { references: ['w', 'earlier.w', 'nobody'] }],
    ['links', { links: [{ to: 'w', relation: 'is', strength: Number.NaN }] }],
  ])('[U11] [E3] always answers with a message that has an invalid %s, and keeps user messages', async (_, odd) => {
    const messages = [assistantMessage('w', 'So it was.', odd), userMessage('u', 'Hello.', odd)];
    const { actor, broken, state } = await startBareChain({ messages }, unsure);
    expect(broken.error).toBeNull();
    expect(actor.getSnapshot().status).toBe('done');
    expect(userTexts(state().messages)).toContain('Hello.');
  });

  // Guards against trimming non-text or reading members of non-objects, which would break the machine and end the run without an answer.
  it.each([
    ['without a choice', {}],
    ['with a non-string choice', { choice: 7 }],
    ['with items that are null', { choice: 'keep', items: null }],
  ])('[U8] keeps everything for a consent reply %s', async (_, given) => {
    const { actor, broken, state } = await startBareChain({ messages: [userMessage('l', LONG)] });
    actor.send({ type: 'consent.given', ...given } as never);
    await settle(100);
    expect(broken.error).toBeNull();
    expect(userTexts(state().messages)).toContain(LONG);
  });

  it('[U8] keeps messages for which the choice is unknown', async () => {
    const { actor, state } = await startBareChain({ messages: [userMessage('l', LONG)] });
    actor.send({ type: 'consent.given', choice: 'keep', items: { 'earlier.l': 'delete' } } as never);
    await settle(100);
    expect(actor.getSnapshot().status).toBe('done');
    expect(userTexts(state().messages)).toContain(LONG);
  });
});
