import { expect, it } from 'vitest';
import { figuresOf } from '../../../inspector/fold/summary.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { FiguresFold } from '../../../src/inspection/run-figures.ts';
import type { RunFigures } from '../../../src/inspection/wire.ts';
import {
  failingRun,
  folded,
  fullRun,
  manualRun,
  plainRun,
  recordedEntries,
} from '../../support/inspector/inspected-runs.ts';

it('counts the same tokens in the list and on the page of a run, and cycles and calls as its answer does, wherever it was interrupted', async () => {
  for (const entries of [
    recordedEntries(await failingRun()),
    await fullRun(11),
    await fullRun(12),
    await fullRun(13),
  ]) {
    const [start] = entries;
    if (start?.type !== 'start') throw new Error('no start');
    const table = new FiguresFold(start, true);
    const { log, fold } = folded(entries);
    const counted: unknown[] = [];
    for (const [seq, entry] of entries.entries()) {
      table.take(entry);
      const { tokens } = table.figures();
      const page = figuresOf(log, fold, seq + 1);
      expect([seq, page.tokens]).toEqual([seq, (tokens?.input ?? 0) + (tokens?.output ?? 0)]);
      if (entry.type === 'answer') {
        const { cycles: all, usage } = entry.answer.metadata;
        expect(counted.at(-1)).toEqual([all, usage.modelCalls]);
        expect(page.tokens).toBe(usage.inputTokens + usage.outputTokens);
      }
      counted.push([page.cycles, page.calls]);
    }
  }
});

it('counts a call that was interrupted, and no cycle that was not completed', async () => {
  const entries = recordedEntries(await plainRun());
  const first = entries.findIndex(({ type }) => type === 'attempt-start') + 1;
  const { log, fold } = folded(entries.slice(0, first));
  expect(figuresOf(log, fold, first)).toMatchObject({ cycles: 0, calls: 1, unfinishedCalls: 1, hasNoUsage: true });
});

function figuresOfAll(entries: readonly JournalEntry[], isWhole = true): RunFigures {
  const [start] = entries;
  if (start?.type !== 'start') throw new Error('no start');
  const fold = new FiguresFold(start, isWhole);
  for (const entry of entries) fold.take(entry);
  return fold.figures();
}

it('says what a run waits for, and which phase is in progress', async () => {
  const entries = recordedEntries(await manualRun());
  const upTo = (type: JournalEntry['type']) =>
    figuresOfAll(entries.slice(0, 1 + entries.findIndex((one) => one.type === type)));
  expect(upTo('consent-asked').waitingFor).toBe('consent');
  expect(upTo('consent-resolved').waitingFor).toBeNull();
  expect(upTo('direction-asked').waitingFor).toBe('direction');
  expect(figuresOfAll(entries)).toMatchObject({ waitingFor: null, phase: null });
  const started = entries.find(({ type }) => type === 'phase-start');
  expect(started).toMatchObject({ phase: upTo('phase-start').phase });
});

it('counts the time of a wait also while no process held the run, but in a fork no copied pauses', async () => {
  const [start] = recordedEntries(await plainRun());
  if (start?.type !== 'start') throw new Error('no start');
  const at = (ms: number): string => new Date(Date.parse(start.startedAt) + ms).toISOString();
  const asked = { type: 'approval-asked', questionId: 'q', capability: 'refund', arguments: {} };
  const answered = { type: 'approval-resolved', questionId: 'q', approved: false, by: 'user' };
  const resumed = { seq: 2, atMs: 50, type: 'resumed', resumedAt: at(720_000) };
  const entries = [
    { ...start, seq: 0, atMs: 0 },
    { seq: 1, atMs: 40, ...asked },
    resumed,
    { seq: 3, atMs: 3_050, ...answered },
    { seq: 4, atMs: 3_060, ...asked },
  ] as unknown as readonly JournalEntry[];
  const { log, fold } = folded(entries);
  const { wallMs } = fold.timeLine;
  expect([wallMs(3) - wallMs(1), figuresOf(log, fold, 5).ms]).toEqual([722_960, 723_010]);
  const table = new FiguresFold(start, true);
  const fork = new FiguresFold({ ...start, forkedFrom: { clockStartMs: Date.parse(at(800_000)) } }, true);
  for (const entry of entries) for (const each of [table, fork]) each.take(entry);
  expect([table, fork].map((each) => each.figures().durationMs)).toEqual([723_010, 3_060]);
  expect(table.wait()?.sinceMs).toBe(Date.parse(at(723_010)));
});

it('leaves the time between the original and a fork out of the duration, in the list as in the head', async () => {
  const [start] = recordedEntries(await plainRun());
  if (start?.type !== 'start') throw new Error('no start');
  const at = (ms: number): string => new Date(Date.parse(start.startedAt) + ms).toISOString();
  const forkedFrom = { clockStartMs: Date.parse(at(320)), forkedAt: at(400) };
  const entries = [
    { ...start, seq: 0, atMs: 0, forkedFrom },
    { seq: 1, atMs: 80, type: 'stopped' },
    { seq: 2, atMs: 81, type: 'resumed', resumedAt: at(500) },
    { seq: 3, atMs: 119, type: 'stopped' },
  ] as unknown as readonly JournalEntry[];
  const { log, fold } = folded(entries);
  const table = new FiguresFold({ ...start, forkedFrom }, true);
  for (const entry of entries) table.take(entry);
  expect([figuresOf(log, fold, 4).ms, fold.timeLine.wallMs(3), table.figures().durationMs]).toEqual([119, 119, 119]);
});
