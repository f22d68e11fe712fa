import { describe, expect, it } from 'vitest';
import { createSequence, messageFrom } from '../../../inspector/fold/sequence.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { failingRun, randomRuns, recordedEntries } from '../../support/inspector/inspected-runs.ts';

function sequenceOf(entries: readonly JournalEntry[]) {
  const { sequence, take } = createSequence();
  for (const entry of entries) take(entry);
  return sequence;
}

describe('the sequence of messages between the actors of a run', () => {
  it('has one message for each call and at most one return, in the order of the journal', async () => {
    for (const entries of await randomRuns(12, 4)) {
      const { rows, actors } = sequenceOf(entries);
      const callsOf = (kind: 'message' | 'return') =>
        rows.filter((row) => row.kind === kind && row.call !== null).map(({ call }) => call);
      const started = entries.flatMap((entry) => (entry.type === 'call-start' ? [entry.call] : []));
      expect(callsOf('message')).toEqual(started);
      const returns = callsOf('return');
      expect(new Set(returns).size).toBe(returns.length);
      expect(returns.every((call) => started.includes(call ?? -1))).toBe(true);
      expect(rows.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq).sort((one, other) => one - other));
      for (const { from, to } of rows) expect(Math.max(from, to)).toBeLessThan(actors.length);
    }
  });

  it('shows a run from the request to the answer, with a band for each cycle', async () => {
    const entries = recordedEntries(await failingRun());
    const { rows, actors } = sequenceOf(entries);
    const lines = rows.map(({ from, to, text }) => `${actors[from]} > ${actors[to]}: ${text}`);
    expect(actors.slice(0, 4)).toEqual(['User', 'Chain', 'Action loop', 'Model']);
    expect(lines[0]).toMatch(/^User > Chain: /u);
    expect(lines).toContain('Action loop > work: execute capability');
    expect(lines).toContain('work > Action loop: done');
    expect(lines).toContain('Action loop > Chain: done');
    expect(lines.at(-1)).toMatch(/^Chain > User: answer: /u);
    expect(rows.filter(({ kind }) => kind === 'cycle').map(({ text }) => text)).toEqual([
      'Cycle 1',
      'Cycle 2',
      'Cycle 3',
    ]);
    expect(rows.some(({ kind, isFailure }) => kind === 'return' && isFailure)).toBe(true);
  });

  it('tells a capability from the actor whose name it has', async () => {
    const entries = JSON.parse(JSON.stringify(recordedEntries(await failingRun())).replaceAll('"work"', '"User"'));
    expect(sequenceOf(entries).actors).toEqual(expect.arrayContaining(['User', 'User (tool)']));
  });

  it('moves to the message of another entry, past the heads of cycles and past both ends', () => {
    const row = (seq: number, kind: 'message' | 'cycle' = 'message') =>
      ({ kind, seq, from: 0, to: 1, text: '', isFailure: false, call: null }) as const;
    const rows = [row(0), row(4), row(4), row(9, 'cycle'), row(9)];
    expect([messageFrom(rows, 2, 1), messageFrom(rows, 3, 4), messageFrom(rows, 1, 2)]).toEqual([4, 2, 0]);
    expect([messageFrom(rows, 5, 4), messageFrom(rows, -1, 0), messageFrom([], 0, -1)]).toEqual([5, -1, 0]);
  });

  it('joins the pieces of a streamed reply to one line', async () => {
    const entries = recordedEntries(await failingRun());
    const { rows } = sequenceOf(entries);
    const pieces = entries.filter(({ type }) => type === 'text-delta');
    const streams = rows.filter(({ kind }) => kind === 'stream');
    expect(streams.length).toBeLessThan(pieces.length);
    const sum = streams.reduce((all, { text }) => all + Number(text.replace(/\D/gu, '')), 0);
    expect(sum).toBe(pieces.reduce((all, piece) => all + (piece.type === 'text-delta' ? piece.text.length : 0), 0));
  });

  it('shows the events between the actors of another program, many of them on one lifeline', () => {
    const events = Array.from({ length: 40 }, (_, seq) => ({
      type: 'delivery',
      seq,
      atMs: seq,
      event: { type: 'TICK' },
      actor: `worker ${seq}`,
      sender: seq === 0 ? null : 'boss',
    }));
    const { rows, actors } = sequenceOf(events as unknown as readonly JournalEntry[]);
    expect(actors.slice(0, 3)).toEqual(['External', 'worker 0', 'boss']);
    expect(actors).toHaveLength(12);
    expect(actors.at(-1)).toBe('Others');
    expect(rows).toHaveLength(40);
    expect(rows[1]).toMatchObject({ from: 2, to: 3, text: 'TICK' });
  });
});
