import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContextOperation } from '../../../../machines/contracts/context.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import { applyOperations } from '../../../../machines/policies/context.ts';
import { aMessage } from '../../../support/contract-samples.ts';
import { listOperations, startScripted } from '../../../support/run-chain.ts';

const message = (id: string, content: string): Message => aMessage({ id, role: 'user', content });

const ids = fc.constantFrom('a', 'b', 'c', 'd');
const texts = fc.string({ minLength: 1, maxLength: 9 });
const operations: fc.Arbitrary<readonly ContextOperation[]> = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constant('ADD' as const), target: ids, text: texts }),
      fc.record({
        kind: fc.constantFrom('PRUNE' as const, 'TRANSFORM' as const, 'TAG' as const),
        target: ids,
        text: texts,
      }),
    ),
    { maxLength: 30 },
  )
  .map((made) =>
    made.map(({ kind, target, text }, index): ContextOperation => {
      const common = { id: `o${index}`, target, code: 'related', reason: 'so', metadata: {} } as const;
      if (kind === 'ADD') return { ...common, operation: kind, data: { message: message(target, text) } };
      if (kind === 'PRUNE') return { ...common, operation: kind, data: {} };
      if (kind === 'TAG') return { ...common, operation: kind, data: { tags: [text] } };
      return {
        ...common,
        operation: kind,
        data: { transformation: 'summarize', content: text, maxChars: 9, originalChars: 99 },
      };
    }),
  );

const start = startScripted().run.entries[0] as Extract<JournalEntry, { type: 'start' }>;

function journalOf(messages: Message[], batches: readonly (readonly ContextOperation[])[]): readonly JournalEntry[] {
  const applied = batches.map((batch, index) => ({
    type: 'operations' as const,
    phase: 'action' as const,
    step: index + 1,
    applied: [...batch],
    seq: index + 2,
    atMs: 0,
  }));
  const recalled = { type: 'session-recalled', sessionId: 'u', turns: 1, messages, problem: null } as const;
  return [start, { seq: 1, atMs: 0, ...recalled }, ...applied];
}

describe('listOperations', () => {
  it('[U12] reports the target sizes that applying the operations one by one gives', () => {
    fc.assert(
      fc.property(operations, (all) => {
        const first = [message('a', 'first')];
        let context: readonly Message[] = first;
        const chars = (id: string) => context.find((one) => one.id === id)?.content.length ?? null;
        for (const { operation, before, after } of listOperations(journalOf(first, [all]))) {
          expect(before).toBe(chars(operation.target));
          context = applyOperations(context, [operation]);
          expect(after).toBe(chars(operation.target));
        }
      }),
    );
  });

  it('attributes operations to the step that requested them, not the one that applied them', () => {
    const one = (id: string): ContextOperation => ({
      operation: 'PRUNE',
      code: 'over_limit',
      id,
      target: 'a',
      data: {},
      reason: 'so',
      metadata: {},
    });
    const listed = listOperations(journalOf([], [[], [one('x'), one('y')], [], [one('z')]]));
    expect(listed.map(({ step, operation: { id } }) => [step, id])).toEqual([
      [1, 'x'],
      [1, 'y'],
      [3, 'z'],
    ]);
  });
});
