import { describe, expect, it } from 'vitest';
import { applyOperations } from '../../../machines/policies/context.ts';
import { contextOf, redo, undo } from '../../../machines/policies/context-document.ts';
import { contextHistory } from '../../../src/journal/context-history.ts';
import { LONG_HISTORY, runOverHistory } from '../../support/journal-file.ts';

describe('the context of a run, folded from its journal', () => {
  it('[U12] is the context that the run ended with, to the byte', async () => {
    const run = await runOverHistory();
    expect(contextOf(contextHistory(run.journal))).toEqual(run.actor.getSnapshot().context.messages);
  });

  it('[U12] without any one operation is what the others give', async () => {
    const { journal } = await runOverHistory();
    const document = contextHistory(journal);
    expect(document.operations.length).toBeGreaterThan(5);
    expect(new Set(document.operations.map(({ id }) => id)).size).toBe(document.operations.length);
    for (const { id } of document.operations) {
      const others = document.operations.filter((operation) => operation.id !== id);
      const without = undo(document, id);
      expect(contextOf(without)).toEqual(applyOperations(document.initial, others));
      expect(contextOf(redo(without, id))).toEqual(contextOf(document));
    }
  });

  it('[U12] without all of them is what the run began with', async () => {
    const { journal } = await runOverHistory();
    const document = contextHistory(journal);
    const bare = document.operations.reduce((undone, { id }) => undo(undone, id), document);
    expect(contextOf(bare)).toEqual(document.initial);
    expect(document.initial.map(({ content }) => content)).toEqual([
      ...LONG_HISTORY.map(({ content }) => content),
      'Is the cellar damp?',
    ]);
  });

  it('[U9][U12] gives a message back as the user wrote it, where its summary or its removal is undone', async () => {
    const { journal } = await runOverHistory();
    const document = contextHistory(journal);
    for (const [target, operation] of [
      ['earlier.h1', 'TRANSFORM'],
      ['earlier.h3', 'PRUNE'],
    ] as const) {
      const done = document.operations.find((one) => one.target === target && one.operation === operation);
      const find = (messages: ReturnType<typeof contextOf>) => messages.find(({ id }) => id === target)?.content;
      const said = document.initial.find(({ id }) => id === target)?.content;
      expect(find(contextOf(document))).not.toBe(said);
      expect(find(contextOf(undo(document, done?.id ?? '')))).toBe(said);
    }
  });

  it('of no entries is empty', () => {
    expect(contextOf(contextHistory([]))).toEqual([]);
  });
});
