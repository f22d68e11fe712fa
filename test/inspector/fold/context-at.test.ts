import { expect, it } from 'vitest';
import { contextAt, endOfChanges } from '../../../inspector/fold/context-at.ts';
import { failingRun, folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';

it('counts the operations that follow the end of a phase as changes of that phase', async () => {
  const entries = recordedEntries(await failingRun());
  const { fold } = folded(entries);
  const ids = (seq: number): Set<string> => new Set(contextAt(fold, seq).messages.map(({ id }) => id));
  const changes = fold.spans.phases.map(({ from, to }) => {
    const end = to ?? entries.length - 1;
    const before = ids(from - 1);
    const after = ids(endOfChanges(fold, { kind: 'phase', from, to: end }, end, entries.length));
    const next = entries[end + 1];
    const added = next?.type === 'operations' ? next.applied.filter(({ operation }) => operation === 'ADD') : [];
    return { shown: [...after].filter((id) => !before.has(id)), added: added.map(({ target }) => target) };
  });
  expect(changes.some(({ added }) => added.length > 0)).toBe(true);
  for (const { shown, added } of changes) expect(shown.sort()).toEqual(added.sort());
  const [first] = fold.spans.phases;
  const end = first?.to ?? 0;
  expect(endOfChanges(fold, { kind: 'attempt', from: 0, to: end }, end, entries.length)).toBe(end);
  expect(endOfChanges(fold, { kind: 'phase', from: 0, to: end }, end - 1, entries.length)).toBe(end - 1);
});
