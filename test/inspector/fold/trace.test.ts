import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../../inspector/fold/format.ts';
import type { Selection } from '../../../inspector/fold/selection.ts';
import { stepTitle } from '../../../inspector/fold/step-title.ts';
import { axisEnd, cutLabels, scaleOf, ticksOf, zoomed } from '../../../inspector/fold/time-axis.ts';
import { TimeLine } from '../../../inspector/fold/time-line.ts';
import { traceOf } from '../../../inspector/fold/trace.ts';
import { listedRows, rowPathTo, rowsIn, type TraceRow, troubleWords } from '../../../inspector/fold/trace-row.ts';
import { entryToExplain } from '../../../inspector/fold/why.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { addUsage, NO_USAGE } from '../../../machines/policies/usage.ts';
import { createPassageIndex, createPostChain } from '../../../src/entries/index.ts';
import { scriptedModel } from '../../../src/entries/testing.ts';
import { replies } from '../../../src/testing/replies.ts';
import {
  failingRun,
  folded,
  manualRun,
  plainRun,
  recordedEntries,
  runToAnswer,
} from '../../support/inspector/inspected-runs.ts';

const failing = recordedEntries(await failingRun());

function traced(entries: readonly JournalEntry[], isOver = true) {
  const { log, fold } = folded(entries);
  const top = traceOf(log, fold, entries.length, isOver);
  return { log, fold, top, all: listedRows(top, () => true).map(({ row }) => row) };
}

const PRICES = { currency: 'EUR', prices: [{ inputPerMillion: 2, outputPerMillion: 10 }] };
const priced = failing.map((entry) =>
  entry.type === 'start' ? { ...entry, input: { ...entry.input, ...PRICES } } : entry,
);
const titlesOf = (rows: readonly TraceRow[]) => rows.map(({ title }) => title);

describe('the trace of a run', () => {
  const { top, all, fold } = traced(priced);

  it('has the cycles, in each its phases and the decision that ended it, and the answer last', () => {
    expect(titlesOf(top)).toEqual(['Cycle 1', 'Cycle 2', 'Cycle 3', expect.stringMatching(/^Answer/u)]);
    const starts = failing.flatMap((entry) => (entry.type === 'phase-start' ? [entry.phase] : []));
    expect(all.flatMap(({ phase }) => phase ?? [])).toEqual(starts);
    const decisions = all.filter(({ kind }) => kind === 'decision' || kind === 'limit');
    expect(decisions.at(-1)).toMatchObject({
      title: 'Yield’s answer is confident enough (0.95, needs more than 0.9)',
      next: 'Answer',
    });
  });

  it('has the calls, retries, waits and tools of a phase inside it, with what failed', () => {
    const [action] = all.filter(({ kind }) => kind === 'phase');
    expect(action).toMatchObject({
      title: 'Action',
      note: 'calls 1–3',
      text: 'requested work · It may be so. work: done',
    });
    const inside = action?.children?.() ?? [];
    expect(titlesOf(inside)).toEqual(['Call 1', 'Wait before the retry', 'Call 2', 'work', 'Call 3']);
    expect(inside[0]).toMatchObject({ status: 'failed', text: 'the script fails this call' });
    expect(inside[2]).toMatchObject({ status: 'done', note: 'retry: the request failed' });
    expect(inside[3]).toMatchObject({ text: 'done', usage: null });
    const [, wait] = inside;
    // The timer has fired.
    expect(fold.timeLine.atMs(wait?.selection?.to ?? 0)).toBe(fold.timeLine.atMs(inside[2]?.from ?? 0));
    expect(wait?.selection).toEqual({ kind: 'entry', from: wait?.from, to: (inside[2]?.from ?? 0) - 1 });
  });

  it('has the arguments of a tool, and the validation of them if it took 50 ms', () => {
    const isStart = (entry: JournalEntry) => entry.type === 'activity-start' && entry.source === 'validateArguments';
    const validating = failing.findIndex(isStart);
    const slow = failing.map((entry, seq) => ({
      ...entry,
      atMs: seq <= validating ? 0 : 61,
      ...(entry.type === 'capability-end' && { result: { ...entry.result, arguments: { id: 'B1' } } }),
    }));
    const { all: rows } = traced(slow as readonly JournalEntry[]);
    expect(rows.find(({ kind }) => kind === 'tool')?.note).toBe('B1');
    expect(rows.filter(({ kind }) => kind === 'activity').map(({ title }) => title)).toEqual([
      'Validation of arguments',
    ]);
  });

  it('has the time of a tool between its entries; the panel adds how long the tool itself ran', () => {
    const slow = failing.map((entry, seq) => ({ ...entry, atMs: 100 * seq }));
    const view = traced(slow as readonly JournalEntry[]);
    const tool = view.all.find(({ kind }) => kind === 'tool');
    const passed = formatDuration(view.fold.timeLine.atMs(tool?.to ?? 0) - view.fold.timeLine.atMs(tool?.from ?? 0));
    const { facts } = stepTitle({
      ...view,
      run: { kind: 'run', live: false, status: 'completed' },
      at: slow.length - 1,
      selection: tool?.selection as Selection,
    });
    expect(facts.slice(-2)).toEqual([passed, expect.stringMatching(/ in the tool$/u)]);
  });

  it('counts what failed inside a cycle', () => {
    const ends = failing.flatMap((entry) => (entry.type === 'attempt-end' ? [entry] : []));
    const words = top.flatMap(troubleWords).flatMap(({ text }) => /^(\d+) calls? failed/u.exec(text)?.[1] ?? []);
    const total = words.reduce((sum, count) => sum + Number(count), 0);
    expect(total).toBe(ends.filter(({ failure }) => failure !== null).length);
  });

  it('sums up the tokens and the cost of the calls of each phase and cycle', () => {
    for (const cycle of top.filter(({ kind }) => kind === 'cycle')) {
      const phases = (cycle.children?.() ?? []).flatMap(({ kind, usage }) =>
        kind === 'phase' && usage !== null ? [usage] : [],
      );
      const total = phases.reduce(addUsage, NO_USAGE);
      expect(total.inputTokens).toBeGreaterThan(0);
      expect(cycle.usage).toEqual({ ...total, cost: expect.closeTo(total.cost ?? 0) });
      expect(total.cost).toBeCloseTo((total.inputTokens * 2 + total.outputTokens * 10) / 1_000_000);
    }
  });

  it('finds the row of a selection and the rows around it', () => {
    const call = all.find(({ title }) => title === 'Call 2');
    expect(call?.selection?.kind).toBe('attempt');
    expect(call?.selection && titlesOf(rowPathTo(top, call.selection))).toEqual(['Cycle 1', 'Action', 'Call 2']);
  });

  it('says that a phase is running only while the run is', () => {
    const until = failing.findIndex(({ type }) => type === 'text-delta') + 1;
    const live = traced(failing.slice(0, until), false).all;
    expect(live.find(({ kind }) => kind === 'phase')).toMatchObject({ title: 'Action', status: 'open', text: '' });
    expect(live.some(({ kind }) => kind === 'decision')).toBe(false);
    expect(traced(failing.slice(0, until), true).all.filter(({ status }) => status === 'open')).toEqual([]);
  });

  it('has no row for the only cycle of a run', async () => {
    const { top: rows } = traced(recordedEntries(await plainRun()));
    expect(titlesOf(rows).slice(0, 2)).toEqual(['Action', 'Experience']);
  });
});

describe('the trace of a run with a user', () => {
  it('has the waits for consent and directions, and the events with their effect', async () => {
    const entries = recordedEntries(await manualRun());
    const { all, log, fold } = traced(entries);
    expect(titlesOf(all.filter(({ kind }) => kind === 'wait'))).toEqual([
      'Waited for consent to shorten or remove 3 messages',
      'Waited for a direction',
      'Waited for a direction',
    ]);
    const run = { kind: 'run', live: false, status: 'completed' } as const;
    const steps = all.flatMap(({ kind, selection }) => (kind === 'wait' && selection !== null ? [selection] : []));
    expect(steps.map(({ to }) => to)).toEqual(all.flatMap(({ kind, to }) => (kind === 'wait' ? [to] : [])));
    // The cursor is at the end of a wait; its step is named and explained by its beginning.
    const view = { run, log, fold, charts: null, count: entries.length, end: null };
    const names = steps.map((selection) => stepTitle({ ...view, selection, at: selection.to }).name);
    expect(names).toEqual([
      'Asked for consent to shorten or remove 3 messages',
      'Asked for a direction',
      'Asked for a direction',
    ]);
    for (const selection of steps) expect(entryToExplain({ fold, at: selection.to }, selection)).toBe(selection.from);
    const events = all.filter(({ kind }) => kind === 'event').map(({ title, text, status }) => [title, text, status]);
    expect(events).toContainEqual(['Directed to nonsense', 'No effect: "nonsense" is not a phase', 'noted']);
    expect(events).toContainEqual(['Directed to experience', expect.any(String), 'done']);
  });

  it('has a search that started early in Experience, with what it found', async () => {
    const documents = createPassageIndex([{ path: 'a.md', text: 'The bridge is so.' }]);
    const run = createPostChain({ documents }).run({ request: 'Is the bridge so?' });
    await run.answer;
    const [action, experience] = traced(run.entries).all.filter(({ kind }) => kind === 'phase');
    expect(action).toMatchObject({ title: 'Action', note: 'no model call', text: '' });
    expect(action?.children).toBe(undefined);
    const [search] = experience?.children?.() ?? [];
    expect(search).toMatchObject({
      title: 'Search',
      note: '1 passage found, started early during Action',
      usage: null,
    });
    const path = search?.selection ? rowPathTo(traced(run.entries).top, search.selection) : [];
    expect(titlesOf(path).slice(-2)).toEqual(['Experience', 'Search']);
  });

  it('lists a call that started early in the phase that it is for, or else where it started, as its panel does', async () => {
    const invalid = { text: '{"goal": 3}' };
    const plan = { intention: (call: number) => (call < 4 ? invalid : replies.intention) };
    const entries = recordedEntries(await runToAnswer(plan, { profile: 'thorough' }));
    const { all, log, fold } = traced(entries);
    const early = all.filter(({ note }) => note?.includes('started early '));
    const words = early.map(({ from, note, selection }) => {
      const view = { log, fold, at: entries.length - 1, count: entries.length, selection: selection as Selection };
      const { name, facts } = stepTitle({ ...view, run: { kind: 'run', live: false, status: 'completed' } });
      const inside = all.findLast((row) => row.phase && rowsIn(row).some((one) => one.from === from));
      expect(facts[0]).toBe(`${inside?.title}, cycle 1`);
      expect(note).toBe(facts[1]);
      return [name.replace(/.*: /u, ''), inside?.title, note];
    });
    expect(words).toEqual([
      ['Observation', 'Intention', 'started early for Observation, not used'],
      ['Observation', 'Observation', 'started early during Intention'],
    ]);
    const [call, phase] = [early[1], all.find((row) => row.early !== undefined)];
    expect([phase?.title, phase?.early]).toEqual(['Observation', { from: call?.from, to: call?.to }]);
    expect(call?.from).toBeLessThan(phase?.from ?? 0);
  });

  it('shows an error once: calls that failed with the error of a phase refer to it', async () => {
    const model = scriptedModel(() => {
      throw new Error('connection refused');
    });
    const run = createPostChain({ model }).run({ request: 'Is it so?' });
    await run.answer;
    const { all: rows } = traced(run.entries);
    expect(rows.find(({ status, kind }) => status === 'failed' && kind === 'phase')?.text).toBe('connection refused');
    expect(rows.flatMap(({ kind, sameErrorAs }) => (kind === 'call' ? [sameErrorAs] : []))).toEqual([
      'the phase',
      'Yield',
    ]);
  });

  it('has a row for the limit of tool runs', () => {
    const stopped = failing.map((entry) =>
      entry.type === 'capability-stop' ? { ...entry, reason: 'limit_reached' as const } : entry,
    );
    const limits = traced(stopped).all.filter(({ kind }) => kind === 'limit');
    expect(titlesOf(limits)).toContainEqual(expect.stringMatching(/^Limit of tool runs reached after \d$/u));
  });
});

describe('the axis', () => {
  const lineOf = (...times: readonly number[]) => {
    const line = new TimeLine(() => false);
    for (const [seq, atMs] of times.entries()) line.take({ seq, atMs, type: 'stopped' });
    return line;
  };
  const scaled = (line: TimeLine, axisPx = 400, range = { startMs: 0, endMs: line.drawnMs(line.count - 1) }) =>
    scaleOf(line, range, axisPx, { nowMs: line.drawnMs(line.count - 1), idleMs: 0 });
  const labels = (line: TimeLine, scale = scaled(line)) => ticksOf(line, scale).map(({ label }) => label);

  it('cuts every long idle gap to the same narrow width, and draws everything else to one scale', () => {
    const line = lineOf(0, 40, 3_040, 3_080, 7_203_080, 7_203_120);
    const { cuts, placeOfEntry, perMs } = scaled(line);
    expect(cuts.map(({ from, to, ms }) => [Math.round(400 * (to - from)), ms, from])).toEqual([
      [24, 7_200_000, placeOfEntry(3)],
      [24, 3_000, placeOfEntry(1)],
    ]);
    expect([1, 3, 5].map((seq) => placeOfEntry(seq) - placeOfEntry(seq - 1))).toEqual(
      Array(3).fill(expect.closeTo(40 * perMs, 9)),
    );
    expect([placeOfEntry(0), placeOfEntry(5)]).toEqual([0, expect.closeTo(1, 9)]);
  });

  it('does not cut a gap that is narrower to scale', () => {
    const line = lineOf(0, 900, ...Array.from({ length: 100 }, (_, index) => 1_800 + 900 * index), 93_000);
    const scale = scaled(line);
    expect([line.gaps.length, scale.cuts, cutLabels(scale)]).toEqual([1, [], []]);
    expect(scale.placeOfEntry(102) - scale.placeOfEntry(101)).toBeCloseTo(2_100 / 93_000, 9);
  });

  it('leaves half of the axis to what ran, however many gaps there are', () => {
    const line = lineOf(...Array.from({ length: 200 }, (_, index) => 60_000 * index), 199 * 60_000 + 10);
    const { placeOfEntry } = scaled(line);
    expect(placeOfEntry(200) - placeOfEntry(199)).toBeCloseTo(0.5, 6);
  });

  it('has the label of a cut over it, at both ends and in the part that is zoomed into', () => {
    const line = lineOf(0, 400, 900, 30_900, 31_400, 7_231_400, 7_232_000);
    const end = scaleOf(line, { startMs: 0, endMs: 2_000 }, 165, { nowMs: 2_000, idleMs: 5_000 });
    for (const scale of [scaled(line), scaled(line, 120), scaled(lineOf(0, 60_000, 60_900)), end]) {
      const all = cutLabels(scale);
      expect(all.length).toBeGreaterThan(0);
      for (const { at, label } of all) {
        const end = at + (7 * label.length) / scale.axisPx;
        const middles = scale.cuts.map(({ from, to }) => (from + to) / 2);
        expect(middles.some((middle) => at <= middle && end >= middle) && at >= 0 && end <= 1 + 1e-9).toBe(true);
      }
    }
    expect(scaled(line, 400, { startMs: 1_000, endMs: 1_300 }).cuts).toEqual([]);
    expect(cutLabels(scaled(line, 400, { startMs: 800, endMs: 1_000 }))).toMatchObject([{ label: '30.0 s' }]);
    expect(cutLabels(scaled(lineOf(0, 900, 575_900, 576_000)))).toMatchObject([{ label: '9 min' }]);
  });

  it('shows the time since the start, including the time right after a gap', () => {
    const line = lineOf(0, 400, 900, 30_900, 31_400, 32_100);
    expect(labels(line)).toEqual(['0 s', '500 ms', '30.9 s', '31.5 s']);
  });

  it('returns the time at a place, which is that of a gap inside it', () => {
    const scale = scaled(lineOf(0, 400, 30_400, 30_900));
    const [cut] = scale.cuts;
    const places = [0, cut?.from, (cut?.from ?? 0) + 0.01, cut?.to, 1];
    expect(places.map((at) => Math.round(scale.msAt(at ?? 0)))).toEqual([0, 400, 400, 400, 900]);
  });

  it('has fewer labels if it is narrow', () => {
    const line = lineOf(0, 877);
    expect(labels(line)).toEqual(['0 s', '200 ms', '400 ms', '600 ms']);
    expect(labels(line, scaled(line, 190))).toEqual(['0 s', '500 ms']);
    expect(labels(line, scaled(line, 50))).toEqual(['0 s']);
  });

  it('starts at zero even if the first entry is late, and has few labels even for enormous times', () => {
    expect(scaled(lineOf(18, 36)).placeOfEntry(0)).toBeCloseTo(0.5, 9);
    for (const line of [lineOf(7, 9, 90_009, 90_500), lineOf(90_000, 90_500)]) expect(labels(line)[0]).toBe('0 s');
    expect(labels(lineOf(0, 5, 1e300, 1e308))).toEqual(['0 s', '2 ms', '4 ms']);
  });

  it('has times since the first entry of an actor', () => {
    const line = lineOf(3, 7, 60_007, 60_011);
    const scale = scaled(line, 400, { startMs: 3, endMs: 11 });
    expect(ticksOf(line, scale, 3).map(({ label }) => label)).toEqual(['0 s', '1 min']);
  });

  it('labels the part that is zoomed into, also without a round time in it', () => {
    const line = lineOf(0, 900, 64_000, 64_800);
    const late = labels(line, scaled(line, 400, { startMs: 901, endMs: 1_101 }));
    expect(late.join()).toBe('1 min 4.001 s,1 min 4.1 s');
    expect(labels(line, scaled(line, 100, { startMs: 401.1, endMs: 402.1 }))).toEqual(['401.1 ms']);
  });

  it('leaves out labels that would reach beyond its end', () => {
    for (const axisPx of [120, 165, 200, 230, 300, 400]) {
      const line = lineOf(0, 8, 261_000, 261_018, 261_040, 261_061);
      const ends = ticksOf(line, scaled(line, axisPx)).map(({ at, label }) => at * axisPx + 5.6 * label.length);
      expect([axisPx, ends.filter((end) => end > axisPx)]).toEqual([axisPx, []]);
    }
  });

  it('leaves out labels that would cover a gap or touch the label of another gap', () => {
    const late = lineOf(0, 118, 5_118, 5_120);
    expect(labels(late, scaled(late, 230))).toEqual(['0 s', '50 ms']);
    const near = scaled(lineOf(0, 100, 300_100, 300_105, 303_705, 303_805));
    expect(cutLabels(near).map(({ label }) => label)).toEqual(['5 min']);
  });

  it('zooms around a time that keeps its place, and stays between the start and the end', () => {
    const whole = { startMs: 0, endMs: 1_000 };
    expect(zoomed(whole, 0.5, 200, 1_000)).toEqual({ startMs: 100, endMs: 600 });
    expect(zoomed({ startMs: 900, endMs: 1_000 }, 0.5, 200, 1_000)).toEqual({ startMs: 175, endMs: 225 });
    expect(zoomed({ startMs: 0, endMs: 500 }, 2, 200, 1_000)).toBeNull();
    expect(zoomed({ startMs: 0, endMs: 0.1 }, 0.5, 0.05, 1_000)).toEqual({ startMs: 0, endMs: 0.1 });
  });

  it('of a live run ends at a round time after now', () => {
    expect([1, 900, 12_300, 61_000].map(axisEnd)).toEqual([1, 1_000, 15_000, 90_000]);
  });
});
