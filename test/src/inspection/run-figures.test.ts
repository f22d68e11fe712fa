import { expect, it } from 'vitest';
import { figuresOf } from '../../../inspector/fold/summary.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { figuresFold } from '../../../src/inspection/run-figures.ts';
import type { RunFigures } from '../../../src/inspection/wire.ts';
import { failingRun, folded, manualRun, plainRun, recordedEntries } from '../../support/inspector/inspected-runs.ts';

it('counts the same cycles, calls and tokens in the table of runs as on the page of a run, wherever the run was interrupted', async () => {
  const entries = recordedEntries(await failingRun());
  const answer = entries.findIndex(({ type }) => type === 'answer');
  const [start] = entries;
  if (start?.type !== 'run-start') throw new Error('no run-start');
  const table = figuresFold(start, true);
  const { log, fold } = folded(entries);
  for (const [seq, entry] of entries.slice(0, answer).entries()) {
    table.take(entry);
    const { cycles, modelCalls, tokens } = table.figures(true);
    const page = figuresOf(log, fold, seq + 1);
    // The page's cycles are those of all its entries.
    const begun = fold.spans.phases.findLast(({ from }) => from <= seq)?.cycle ?? 0;
    expect([seq, cycles, modelCalls, (tokens?.input ?? 0) + (tokens?.output ?? 0)]).toEqual([
      seq,
      begun,
      page.calls,
      page.tokens,
    ]);
  }
});

function figuresOfAll(entries: readonly JournalEntry[], isWhole = true): RunFigures {
  const [start] = entries;
  if (start?.type !== 'run-start') throw new Error('no run-start');
  const fold = figuresFold(start, isWhole);
  for (const entry of entries) fold.take(entry);
  return fold.figures(false);
}

it('marks the phases of the journal in order, in upper case those that failed or whose tools did', async () => {
  const entries = recordedEntries(await failingRun());
  const { strip, failures, answer } = figuresOfAll(entries);
  const started = entries.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase.charAt(0)] : []));
  const final = entries.find(({ type }) => type === 'answer');
  if (final?.type !== 'answer') throw new Error('no answer');
  expect(strip?.toLowerCase()).toBe(started.join(''));
  expect(strip).toMatch(/[A-Z]/u);
  expect(failures).toBe(final.answer.metadata.failures.length);
  expect(final.answer.answerText.trim().startsWith(answer)).toBe(true);
  // Read at both ends only, the phases are unknown.
  expect(figuresOfAll(entries, false)).toMatchObject({ strip: null, failures });
});

it('shortens the strip of a long run, with one mark for the phases that it leaves out', async () => {
  const entries = recordedEntries(await plainRun());
  const [start] = entries;
  if (start?.type !== 'run-start') throw new Error('no run-start');
  const stripOf = (failedAt: number): string => {
    const fold = figuresFold(start, true);
    for (let step = 0; step < 60; step += 1) {
      fold.take({ type: 'phase-start', phase: step % 2 === 0 ? 'action' : 'yield', cycle: 1 });
      fold.take({ type: 'phase-end', failure: step === failedAt ? { stage: 'schema' } : null });
    }
    return fold.figures(false).strip ?? '';
  };
  expect(stripOf(-1)).toBe('ayayayayaya.ayayayayayay');
  expect(stripOf(30)).toBe('ayayayayaya!ayayayayayay');
  expect(stripOf(59)).toBe('ayayayayaya.ayayayayayaY');
});

it('counts a tool that was not approved as no failure', async () => {
  const [start] = recordedEntries(await plainRun());
  if (start?.type !== 'run-start') throw new Error('no run-start');
  const failuresWith = (code: string) => {
    const fold = figuresFold(start, true);
    fold.take({ type: 'phase-start', phase: 'action', cycle: 1 });
    fold.take({ type: 'capability-end', result: { success: false, code } });
    const { failures, strip } = fold.figures(false);
    return [failures, strip];
  };
  expect(failuresWith('denied')).toEqual([0, 'a']);
  expect(failuresWith('threw')).toEqual([1, 'A']);
});

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
