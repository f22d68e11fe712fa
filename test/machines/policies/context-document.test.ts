import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContextOperation } from '../../../machines/contracts/context.ts';
import { append, applyOperations, contextDocument, contextOf, redo, undo } from '../../../machines/policies/context.ts';
import { contextArbitrary, operationArbitrary } from '../../support/arbitraries.ts';
import { deepFreeze } from '../../support/contract-samples.ts';

/** Operations with unique ids, numbered like the steps of a run. */
const numbered = fc
  .array(operationArbitrary, { minLength: 1, maxLength: 12 })
  .map((all) => all.map((operation, at): ContextOperation => ({ ...operation, id: `o${at}` })));
const documents = fc.tuple(contextArbitrary, numbered).map(([messages, operations]) => ({
  messages,
  operations,
  document: deepFreeze(append(contextDocument(messages), operations)),
}));

describe('a context document', () => {
  it('[U12] is a fold of its operations, each of which can be undone, once, and redone', () => {
    fc.assert(
      fc.property(documents, fc.nat(11), ({ messages, operations, document }, at) => {
        expect(contextOf(document)).toEqual(applyOperations(messages, operations));
        const id = operations[at % operations.length]?.id ?? '';
        const others = operations.filter((operation) => operation.id !== id);
        const undone = undo(document, id);
        expect(contextOf(undone)).toEqual(applyOperations(messages, others));
        expect(undo(undone, id)).toEqual(undone);
        expect(redo(undone, id)).toEqual(document);
        expect(undo(document, 'nothing')).toBe(document);
        expect(redo(document, 'nothing')).toBe(document);
      }),
    );
  });

  it('[U12] restores the initial messages when everything is undone, in any order', () => {
    const order = documents.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray([...given.operations], { minLength: given.operations.length })),
    );
    fc.assert(
      fc.property(order, ([{ messages, document }, operations]) => {
        expect(contextOf(operations.reduce((left, { id }) => undo(left, id), document))).toEqual(messages);
      }),
    );
  });
});
