import { describe, expect, it } from 'vitest';
import { initialMessages } from '../../../machines/policies/progress.ts';
import { aChainInput } from '../../support/contract-samples.ts';
import {
  applyWithoutConsent,
  assistantMessage,
  searchMessage,
  userMessage,
  userTexts,
} from '../../support/retention.ts';

describe('messages that share an id', () => {
  const own = userMessage('x', 'I live in a small town.');
  const other = searchMessage('x', 'Tide tables of the north.');
  const both = [
    [own, other],
    [other, own],
  ] as const;

  // Guards against applying an operation planned for the search result to the user message with the same id.
  it('[U3] [U4] [U8] keep the user message when a rule prunes the search result', () => {
    for (const messages of both)
      expect(userTexts(applyWithoutConsent([...messages, assistantMessage('n', 'Yes.')]))).toEqual([own.content]);
  });

  it('[C2] [U4] get unique ids when a run starts, so that none is lost', () => {
    for (const messages of both) {
      const begun = initialMessages(aChainInput({ messages }));
      expect(begun.slice(0, 2).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
      expect(new Set(begun.map(({ id }) => id)).size).toBe(3);
    }
  });
});
