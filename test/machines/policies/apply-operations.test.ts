import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import { type Message, messageSchema } from '../../../machines/contracts/message.ts';
import { append, applyOperations, contextDocument, contextOf, undo } from '../../../machines/policies/context.ts';
import { contextArbitrary, operationArbitrary } from '../../support/arbitraries.ts';
import { aMessage, deepFreeze, operations } from '../../support/contract-samples.ts';

const idsOf = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id);
const operationsArbitrary = fc.array(operationArbitrary, { maxLength: 12 });
const m1 = deepFreeze(aMessage());
const applied = (operation: ContextOperation) => applyOperations([m1], [deepFreeze(operation)]);

describe('applying operations to the context', () => {
  it.each([
    [operations.ADD, [m1, operations.ADD.data.message]],
    [operations.TAG, [{ ...m1, tags: ['draft', 'kept'] }]],
    [operations.PRUNE, []],
    [operations.TRANSFORM, [{ ...m1, content: 'Opened 1932.', tags: ['draft', 'summary'] }]],
    [operations.LINK, [{ ...m1, links: [{ to: 'm2', relation: 'supports', strength: 0.8 }] }]],
    [operations.PRIORITIZE, [{ ...m1, importance: 0.9 }]],
  ])('[C3] $operation changes only its target', (operation, wanted) => {
    expect(applied(operation)).toEqual(wanted);
  });

  it('[C2] [C3] never mutates a message or an operation, and keeps ids unique and every message valid', () => {
    fc.assert(
      fc.property(contextArbitrary, operationsArbitrary, (messages, given) => {
        const before = structuredClone(messages);
        const after = applyOperations(deepFreeze(messages), deepFreeze(given));
        expect(messages).toEqual(before);
        expect(new Set(idsOf(after)).size).toBe(after.length);
        for (const message of after) expect(messageSchema.parse(message)).toEqual(message);
      }),
    );
  });

  it('[C3] ignores an operation on a message that does not exist', () => {
    fc.assert(
      fc.property(contextArbitrary, operationArbitrary, (messages, operation) => {
        fc.pre(operation.operation !== 'ADD');
        expect(applyOperations(messages, [{ ...operation, target: 'elsewhere' }])).toEqual(messages);
      }),
    );
  });

  it('[C3] ignores adding a message that already exists', () => {
    const other = { ...operations.ADD, target: 'm1', data: { message: aMessage({ content: 'another text' }) } };
    expect(applied(other)).toEqual([m1]);
  });

  it('[C3] gives the same result when applied in two halves', () => {
    fc.assert(
      fc.property(contextArbitrary, operationsArbitrary, fc.nat(12), (messages, given, cut) => {
        const halves = applyOperations(applyOperations(messages, given.slice(0, cut)), given.slice(cut));
        expect(halves).toEqual(applyOperations(messages, given));
      }),
    );
  });

  describe('references', () => {
    const citing = aMessage({ id: 'citing', references: ['m1', 'other'] });
    const prune = (target: string, replacedBy?: string): ContextOperation => ({
      ...operations.PRUNE,
      id: `prune ${target}`,
      target,
      metadata: replacedBy === undefined ? {} : { replacedBy },
    });
    const referencesAfter = (...given: readonly ContextOperation[]) =>
      applyOperations([m1, aMessage({ id: 'other', references: [] }), citing], given).find(({ id }) => id === 'citing')
        ?.references;

    it.each<[string, readonly ContextOperation[], readonly string[]]>([
      ['a pruned message', [prune('m1')], ['other']],
      ['a message that another replaces', [prune('m1', 'other')], ['other']],
      ['one replaced by a message that is then pruned', [prune('m1', 'other'), prune('other')], []],
      ['one replaced by the message that refers to it', [prune('m1', 'citing')], ['other']],
    ])('[U5] [U6] never lead to nothing: %s', (_, given, references) => {
      expect(referencesAfter(...given)).toEqual(references);
    });

    it('[U12] are back after an undo', () => {
      const document = append(contextDocument([m1, citing]), [prune('m1')]);
      expect(contextOf(document)[0]?.references).toEqual(['other']);
      expect(contextOf(undo(document, 'prune m1'))).toEqual([m1, citing]);
    });

    it('[U5] [U6] never lead to nothing in any context that had none, in one step or in several', () => {
      fc.assert(
        fc.property(contextArbitrary, operationsArbitrary, (messages, given) => {
          const existing = new Set(idsOf(messages));
          const whole = messages.map((one) => ({
            ...one,
            references: one.references.filter((id) => existing.has(id)),
          }));
          const changes = given.filter(({ operation }) => operation !== 'ADD');
          const left = applyOperations(whole, changes);
          const ids = new Set(idsOf(left));
          for (const { references } of left) for (const id of references) expect(ids).toContain(id);
          expect(changes.reduce<readonly Message[]>((all, one) => applyOperations(all, [one]), whole)).toEqual(left);
        }),
      );
    });
  });
});
