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

  it('of a user keep both contents as long as nothing is done to the context', () => {
    for (const messages of both) expect(contextOf(contextDocument(messages))).toEqual(messages);
  });

  // Fault: an index by id in applyOperations leaves the last of them, whatever the operation is about.
  it('lose nothing to an operation on another message [C3]', () => {
    for (const messages of both)
      for (const target of ['elsewhere', 'y'])
        expect(saidByUsers(applyOperations([...messages, said('y', 'Yes.')], [{ ...operations.TAG, target }]))).toEqual(
          [own.content],
        );
  });

  // Fault: what the rules plan for the search result is an operation on the id, and takes the user's message with it.
  it('leave the user’s where a rule prunes the search result [U3] [U4] [U8]', () => {
    for (const messages of both)
      expect(saidByUsers(leftUnasked([...messages, said('n', 'Yes.')]))).toEqual([own.content]);
  });

  it('leave the user’s in a document with any operation, undone or not [U12]', () => {
    for (const messages of both) {
      const document = append(contextDocument(messages), [
        { ...operations.PRUNE, id: 'o1', target: 'nothing' },
        { ...operations.TAG, id: 'o2', target: 'nothing' },
      ]);
      expect(saidByUsers(contextOf(document))).toEqual([own.content]);
      expect(saidByUsers(contextOf(undo(document, 'o1')))).toEqual([own.content]);
    }
  });

  it('get ids of their own as a run begins, so that none of them is lost [C2] [U4]', () => {
    for (const messages of both) {
      const begun = initialMessages(aChainInput({ messages }));
      expect(begun.slice(0, 2).map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
      expect(new Set(begun.map(({ id }) => id)).size).toBe(3);
    }
  });

  // Fault: a free id is looked for from 2 on for each of them: n² / 2 looks for n messages.
  it('get them in a number of looks that grows with the messages, and not with its square [C2]', () => {
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
  it('and say the same, leave one of them [U6]', () => {
    const twice = [found('x', 'The tide is low.', { cycle: 3 }), found('x', 'The tide is low.', { cycle: 3 })];
    expect(leftUnasked([...twice, said('n', 'Yes.')]).some(({ id }) => id === 'x')).toBe(true);
  });
});
