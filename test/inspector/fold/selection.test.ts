import { describe, expect, it } from 'vitest';
import { selectionAt } from '../../../inspector/fold/selection.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, folded, recordedEntries } from '../../support/inspector/inspected-runs.ts';

const entries = recordedEntries(await failingRun());
const { fold } = folded(entries);
const seqOf = (is: (entry: JournalEntry) => boolean): number => entries.find(is)?.seq ?? -1;
const selectionOf = (is: (entry: JournalEntry) => boolean) => selectionAt(fold, seqOf(is), entries.length);

describe('the step of an entry', () => {
  it('is the phase for its start and end, with all entries between them', () => {
    const [start, end] = (['phase-start', 'phase-end'] as const).map((type) => seqOf((entry) => entry.type === type));
    const phase = { kind: 'phase', from: start, to: end };
    expect(selectionOf(({ type }) => type === 'phase-start')).toEqual(phase);
    expect(selectionOf(({ type }) => type === 'phase-end')).toEqual(phase);
  });

  it('is the attempt for the text of a reply, and the capability while it runs', () => {
    const delta = selectionOf(({ type }) => type === 'text-delta');
    expect(delta.kind).toBe('attempt');
    expect(entries[delta.from]?.type).toBe('attempt-start');
    expect(entries[delta.to]?.type).toBe('attempt-end');
    const run = selectionOf(({ type }) => type === 'capability-end');
    expect([run.kind, entries[run.from]?.type]).toEqual(['capability', 'capability-start']);
  });

  it('is the entry itself for a decision and context operations', () => {
    for (const [type, kind] of [
      ['decision', 'decision'],
      ['operations', 'operations'],
    ] as const) {
      const seq = seqOf((entry) => entry.type === type);
      expect(selectionOf((entry) => entry.type === type)).toEqual({ kind, from: seq, to: seq });
    }
  });

  it('is the writing of the answer at the end of the run', () => {
    const end = selectionOf(({ type }) => type === 'end');
    expect(end).toMatchObject({ kind: 'entry', to: entries.length - 1 });
    expect(entries[end.from]).toMatchObject({ type: 'attempt-start', task: 'synthesis' });
  });

  it('ends at the latest entry while it is running', () => {
    const at = seqOf(({ type }) => type === 'text-delta');
    const { fold: early } = folded(entries.slice(0, at + 1));
    expect(selectionAt(early, at, at + 1)).toMatchObject({ kind: 'attempt', to: at });
  });
});
