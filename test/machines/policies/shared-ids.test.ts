import { describe, expect, it, vi } from 'vitest';
import { append, applyOperations, contextDocument, contextOf, undo } from '../../../machines/policies/context.ts';
import { initialMessages } from '../../../machines/policies/progress.ts';
import { operations } from '../contracts/samples.ts';
import { found, leftUnasked, said, saidByUsers, user } from './hostile.ts';
import { aChainInput } from './states.ts';

describe('messages that share an id', () => {
  const own = user('x', 'I live in a small town.');
  const other = found('x', 'Tide tables of the north.');
  const both = [
    [own, other],
    [other, own],
  ] as const;

  it('both keep their content when they are user messages and no operation is applied', () => {
    for (const messages of both) expect(contextOf(contextDocument(messages))).toEqual(messages);
  });

  // Fault: an index by id in applyOperations leaves the last of them, whatever the operation is about.
  it('[C3] are unaffected by an operation on another message', () => {
    for (const messages of both)
      for (const target of ['elsewhere', 'y'])
        expect(saidByUsers(applyOperations([...messages, said('y', 'Yes.')], [{ ...operations.TAG, target }]))).toEqual(
          [own.content],
        );
  });

  // Fault: what the rules plan for the search result is an operation on the id, and takes the user's message with it.
  it('[U3] [U4] [U8] keep the user message when a rule prunes the search result', () => {
    for (const messages of both)
      expect(saidByUsers(leftUnasked([...messages, said('n', 'Yes.')]))).toEqual([own.content]);
  });

  it('[U12] keep the user message in a document with any operation, undone or not', () => {
    for (const messages of both) {
      const document = append(contextDocument(messages), [
        { ...operations.PRUNE, id: 'o1', target: 'nothing' },
        { ...operations.TAG, id: 'o2', target: 'nothing' },
      ]);
      expect(saidByUsers(contextOf(document))).toEqual([own.content]);
      expect(saidByUsers(contextOf(undo(document, 'o1')))).toEqual([own.content]);
    }
  });

  it('[C2] [U4] get unique ids when a run starts, so that none is lost', () => {
    for (const messages of both) {
      const begun = initialMessages(aChainInput({ messages }));
      expect(begun.slice(0, 2).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
      expect(new Set(begun.map(({ id }) => id)).size).toBe(3);
    }
  });

  // Fault: a free id is looked for from 2 on for each of them: n² / 2 looks for n messages.
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

  // Fault: near-duplicates are told apart by id, so that each of the two stands for itself and both go.
  it('[U6] are reduced to one if they have the same content', () => {
    const twice = [found('x', 'The tide is low.', { cycle: 3 }), found('x', 'The tide is low.', { cycle: 3 })];
    expect(leftUnasked([...twice, said('n', 'Yes.')]).some(({ id }) => id === 'x')).toBe(true);
  });
});
