import { describe, expect, it, vi } from 'vitest';
import { append, applyOperations, contextDocument, contextOf, undo } from '../../../machines/policies/context.ts';
import { initialMessages } from '../../../machines/policies/progress.ts';
import { aChainInput, operations } from '../../support/contract-samples.ts';
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

  it('both keep their content when they are user messages and no operation is applied', () => {
    for (const messages of both) expect(contextOf(contextDocument(messages))).toEqual(messages);
  });

  // Guards against an index by id in applyOperations that keeps only the last message of each id.
  it('[C3] are unaffected by an operation on another message', () => {
    for (const messages of both)
      for (const target of ['elsewhere', 'y'])
        expect(
          userTexts(applyOperations([...messages, assistantMessage('y', 'Yes.')], [{ ...operations.TAG, target }])),
        ).toEqual([own.content]);
  });

  // Guards against applying an operation planned for the search result to the user message with the same id.
  it('[U3] [U4] [U8] keep the user message when a rule prunes the search result', () => {
    for (const messages of both)
      expect(userTexts(applyWithoutConsent([...messages, assistantMessage('n', 'Yes.')]))).toEqual([own.content]);
  });

  it('[U12] keep the user message in a document with any operation, undone or not', () => {
    for (const messages of both) {
      const document = append(contextDocument(messages), [
        { ...operations.PRUNE, id: 'o1', target: 'nothing' },
        { ...operations.TAG, id: 'o2', target: 'nothing' },
      ]);
      expect(userTexts(contextOf(document))).toEqual([own.content]);
      expect(userTexts(contextOf(undo(document, 'o1')))).toEqual([own.content]);
    }
  });

  it('[C2] [U4] get unique ids when a run starts, so that none is lost', () => {
    for (const messages of both) {
      const begun = initialMessages(aChainInput({ messages }));
      expect(begun.slice(0, 2).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
      expect(new Set(begun.map(({ id }) => id)).size).toBe(3);
    }
  });

  // Guards against a search from 2 for each free id: n² / 2 lookups for n messages.
  it('[C2] get unique ids in linear time', () => {
    const looks = vi.spyOn(Set.prototype, 'has');
    const count = (messages: number): number => {
      looks.mockClear();
      initialMessages(aChainInput({ messages: Array.from({ length: messages }, () => own) }));
      return looks.mock.calls.length;
    };
    const [few, many] = [count(100), count(1_000)];
    looks.mockRestore();
    expect(many).toBeLessThan(20 * few);
  });

  // Guards against comparing near-duplicates by id, which would remove both.
  it('[U6] are reduced to one if they have the same content', () => {
    const twice = [
      searchMessage('x', 'The tide is low.', { cycle: 3 }),
      searchMessage('x', 'The tide is low.', { cycle: 3 }),
    ];
    expect(applyWithoutConsent([...twice, assistantMessage('n', 'Yes.')]).some(({ id }) => id === 'x')).toBe(true);
  });
});
