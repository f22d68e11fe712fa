import { expect, it } from 'vitest';
import { RETRIEVAL } from '../../../inspector/fold/selection.ts';
import { traceOf } from '../../../inspector/fold/trace.ts';
import { listedRows, rowPathTo } from '../../../inspector/fold/trace-row.ts';
import { folded, fullRun, randomRuns } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const runs = await randomRuns(sampleSize('runs as traces', 12, 100), 11);

it('has each phase, call, tool, search, decision and event of any run exactly once, and finds it by its selection', () => {
  for (const entries of runs) {
    const { log, fold } = folded(entries);
    const top = traceOf(log, fold, entries.length, true);
    const rows = listedRows(top, () => true).map(({ row }) => row);
    const rowsFrom = (...kinds: readonly string[]) =>
      rows
        .filter(({ kind }) => kinds.includes(kind))
        .map(({ from }) => from)
        .sort((one, other) => one - other);
    const seqs = (type: string) => entries.filter((entry) => entry.type === type).map(({ seq }) => seq);
    expect(rowsFrom('phase')).toEqual(seqs('phase-start'));
    expect(rowsFrom('call')).toEqual(seqs('attempt-start'));
    expect(rowsFrom('tool')).toEqual(seqs('capability-start'));
    const searches = entries.filter((entry) => entry.type === 'activity-start' && entry.source === RETRIEVAL);
    expect(rowsFrom('search')).toEqual(searches.map(({ seq }) => seq));
    const events = rows.filter(({ kind, note }) => kind === 'event' && note === 'by the user');
    expect(events).toHaveLength(seqs('delivery').length);
    expect(rowsFrom('decision', 'limit')).toEqual(expect.arrayContaining(seqs('decision')));
    const failed = entries.filter(
      ({ type, ...entry }) => type === 'attempt-end' && 'failure' in entry && entry.failure !== null,
    );
    expect(rows.filter(({ kind, text }) => kind === 'call' && text !== '')).toHaveLength(failed.length);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ status }) => status === 'open')).toEqual([]);
    for (const row of rows) {
      if (row.selection === null) continue;
      expect(rowPathTo(top, row.selection).at(-1)?.id).toBe(row.id);
    }
  }
});

it('keeps the rows of what has ended while a run grows', () => {
  const [entries = []] = runs;
  const { log, fold } = folded([]);
  let before: readonly string[] = [];
  for (const entry of entries) {
    log.add([JSON.stringify(entry)], fold.take);
    const rows = listedRows(traceOf(log, fold, log.count, false), () => true).map(({ row }) => row);
    const ended = rows.filter(({ kind, to }) => kind === 'phase' && to !== null).map(({ id, text }) => `${id} ${text}`);
    expect(ended.slice(0, before.length)).toEqual(before);
    before = ended;
  }
});

it('has a row for the time limit that ended a run, and for what failed in it', async () => {
  const entries = await fullRun(9);
  const { log, fold } = folded(entries);
  const rows = listedRows(traceOf(log, fold, entries.length, true), () => true).map(({ row }) => row);
  const expired = entries.find((entry) => entry.type === 'transition' && entry.event === 'run.expired');
  expect(rows.filter(({ kind }) => kind === 'limit').map(({ title, from }) => [title, from])).toEqual([
    ['Time limit of the run reached', expired?.seq],
  ]);
  expect(rows.filter(({ kind, status }) => kind === 'wait' && status !== 'open').map(({ title }) => title)).toContain(
    'Waited for a direction',
  );
  const errors = entries.flatMap((entry) =>
    entry.type === 'capability-end' && !entry.result.success ? [entry.result.error] : [],
  );
  expect(rows.flatMap(({ kind, status, text }) => (kind === 'tool' && status === 'failed' ? [text] : []))).toEqual(
    errors,
  );
  const searches = entries.filter(
    (entry) => entry.type === 'activity-event' && entry.source === RETRIEVAL && entry.event.type === 'failed',
  );
  expect(rows.filter(({ kind, status }) => kind === 'search' && status === 'failed')).toHaveLength(searches.length);
});
