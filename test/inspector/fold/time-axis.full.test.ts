import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLanes, type Lane } from '../../../inspector/fold/lanes.ts';
import { sumsOf } from '../../../inspector/fold/spans.ts';
import { cycleFrom, phaseFrom, transitionFrom } from '../../../inspector/fold/steps.ts';
import { panned, played, showing, ticksIn, timeAxis, windowOf, zoomed } from '../../../inspector/fold/time-axis.ts';
import { createTimeLine } from '../../../inspector/fold/time-line.ts';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { folded, randomRuns } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const runs = await randomRuns(sampleSize('runs on the time axis', 12, 100), 11);

describe('stepping through a run', () => {
  it('moves to the nearest transition, phase, and cycle on either side, like a scan of all entries', () => {
    for (const entries of runs) {
      const { fold } = folded(entries);
      const last = entries.length - 1;
      const starts = entries.filter((entry) => entry.type === 'phase-start');
      const cycles = starts.filter(({ cycle }, index) => cycle !== starts[index - 1]?.cycle);
      const kinds = [
        [transitionFrom, entries.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry))],
        [phaseFrom, starts],
        [cycleFrom, cycles],
      ] as const;
      for (const [from, stops] of kinds)
        for (let at = 0; at <= last; at += 1) {
          expect(from(fold, at, 1)).toBe(stops.find(({ seq }) => seq > at)?.seq ?? last);
          expect(from(fold, at, -1)).toBe(stops.findLast(({ seq }) => seq < at)?.seq ?? 0);
        }
    }
  });
});

describe('the time axes', () => {
  it('map each position back to its last entry, by time and by entry', () => {
    for (const entries of runs) {
      const { timeLine } = folded(entries).fold;
      const [time, even] = [timeAxis(timeLine, 'time'), timeAxis(timeLine, 'entry')];
      for (const { seq } of entries) {
        expect(even.entryAt(even.positionOf(seq))).toBe(seq);
        const cached = entries.findLast((entry) => time.positionOf(entry.seq) === time.positionOf(seq));
        expect(time.entryAt(time.positionOf(seq))).toBe(cached?.seq);
      }
      expect(even.entryAt(even.end * 2)).toBe(entries.length - 1);
    }
  });
});

describe('the ruler', () => {
  it('marks round times at their positions, apart from each other, and none inside a shortened gap', () => {
    for (const entries of runs) {
      const { timeLine } = folded(entries).fold;
      const axis = timeAxis(timeLine, 'time');
      for (const [from, to] of [
        [0, 1],
        [0.3, 0.5],
      ] as const) {
        const window = { from: from * axis.end, to: to * axis.end };
        const apart = (window.to - window.from) / 10;
        if (apart === 0) continue;
        const ticks = ticksIn(axis, timeLine, window, apart);
        expect(ticks.length).toBeLessThanOrEqual(12 + timeLine.gaps.length);
        for (const [index, { position }] of ticks.entries()) {
          expect(position).toBeGreaterThanOrEqual(window.from - 1e-6);
          expect(position).toBeLessThanOrEqual(window.to + 1e-6);
          const inside = timeLine.gaps.some(
            (seq) => timeLine.drawnMs(seq - 1) + 1e-6 < position && position < timeLine.drawnMs(seq) - 1e-6,
          );
          expect(inside).toBe(false);
          const before = ticks[index - 1]?.position ?? Number.NEGATIVE_INFINITY;
          const isPastGap = timeLine.gaps.some(
            (seq) => before <= timeLine.drawnMs(seq) && timeLine.drawnMs(seq) <= position + 1e-6,
          );
          if (!isPastGap) expect(position - before).toBeGreaterThanOrEqual(apart * 0.999);
        }
      }
    }
  });

  it('shows the time since the start, also after a shortened gap, and entries on an axis by entry', () => {
    const { timeLine, take } = createTimeLine(() => false);
    for (const [seq, atMs] of [0, 400, 900, 30_900, 31_400, 32_100].entries()) take({ seq, atMs, type: 'run-stopped' });
    const axis = timeAxis(timeLine, 'time');
    expect(axis.end).toBe(3_100);
    const ticks = ticksIn(axis, timeLine, { from: 0, to: 3_100 }, 300);
    expect(ticks.map(({ position, label }) => `${Math.round(position)}: ${label}`)).toEqual([
      '0: 0 s',
      '500: 500 ms',
      '2000: 31.0 s',
      '2500: 31.5 s',
      '3000: 32.0 s',
    ]);
    const even = timeAxis(timeLine, 'entry');
    expect(ticksIn(even, timeLine, { from: 0, to: even.end }, 100).map(({ label }) => label)).toEqual([
      'entry 0',
      'entry 2',
      'entry 4',
    ]);
  });
});

describe('the sums of a range', () => {
  it('are those of the model calls that start in it, with their cost', () => {
    for (const entries of runs) {
      const { fold } = folded(priced(entries));
      const ends = entries.filter((entry) => entry.type === 'attempt-end');
      const all = sumsOf(fold.spans, fold.timeLine, 0, entries.length - 1);
      const tokens = (read: (entry: (typeof ends)[number]) => number): number =>
        ends.reduce((sum, entry) => sum + read(entry), 0);
      expect(all.modelCalls).toBe(entries.filter(({ type }) => type === 'attempt-start').length);
      expect(all.inputTokens).toBe(tokens(({ usage }) => usage.inputTokens));
      expect(all.outputTokens).toBe(tokens(({ usage }) => usage.outputTokens));
      expect(all.cost).toBeCloseTo((2 * all.inputTokens + 10 * all.outputTokens) / 1_000_000, 9);
      expect(all.failed).toBe(ends.filter(({ failure }) => failure !== null).length);
      const middle = entries.length >> 1;
      const [one, other] = [
        [0, middle],
        [middle + 1, entries.length - 1],
      ].map(([from = 0, to = 0]) => sumsOf(fold.spans, fold.timeLine, from, to));
      expect((one?.modelCalls ?? 0) + (other?.modelCalls ?? 0)).toBe(all.modelCalls);
      expect((one?.cost ?? 0) + (other?.cost ?? 0)).toBeCloseTo(all.cost ?? -1, 9);
      expect(sumsOf(folded(entries).fold.spans, fold.timeLine, 0, middle).cost).toBeNull();
    }
  });
});

/** The same run with prices. */
const priced = (entries: readonly JournalEntry[]): readonly JournalEntry[] =>
  entries.map((entry) =>
    entry.type === 'run-start'
      ? { ...entry, currency: 'EUR', prices: [{ inputPerMillion: 2, outputPerMillion: 10 }] }
      : entry,
  );

describe('the visible range', () => {
  const ends = fc.double({ min: 1, max: 1e6, noNaN: true });
  const shares = fc.double({ min: 0, max: 1, noNaN: true });

  it('stays within the run and keeps the position under the pointer when zooming and panning', () => {
    fc.assert(
      fc.property(ends, fc.array(fc.tuple(fc.constantFrom(0.3, 0.8, 1.7), shares, shares)), (end, turns) => {
        let window: ReturnType<typeof zoomed> = null;
        for (const [times, share, by] of turns) {
          const before = windowOf(window, end);
          const around = before.from + share * (before.to - before.from);
          window = zoomed(window, end, times, around);
          const { from, to } = windowOf(window, end);
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(end * 1.000001);
          expect(from).toBeLessThanOrEqual(around + 1e-6 * end);
          expect(to).toBeGreaterThanOrEqual(around - 1e-6 * end);
          if (times < 1 && from > 0 && to < end) expect((around - from) / (to - from)).toBeCloseTo(share, 3);
          window = panned(window, end, (by - 0.5) * end);
          expect(windowOf(window, end).from).toBeGreaterThanOrEqual(0);
          window = showing(window, end, around);
          expect(windowOf(window, end).from).toBeLessThanOrEqual(around + 1e-6 * end);
          expect(windowOf(window, end).to).toBeGreaterThanOrEqual(around - 1e-6 * end);
        }
      }),
    );
  });
});

describe('playback', () => {
  it('reaches the end, never goes backward, and takes about 20 seconds', () => {
    for (const entries of runs) {
      const axis = timeAxis(folded(entries).fold.timeLine, 'entry');
      let now = { position: 0, seq: 0, isOver: false };
      for (let frames = 0; !now.isOver; frames += 1) {
        const next = played(axis, now.position, 16);
        expect(next.seq).toBeGreaterThanOrEqual(now.seq);
        expect(frames).toBeLessThanOrEqual(1_251);
        now = next;
      }
      expect(now.seq).toBe(entries.length - 1);
    }
  });
});

/** Calls that are shown as attempts and as capabilities. */
const SHOWN_AS_STEPS = new Set(['readReply', 'executeCapability']);

describe('timeline lanes', () => {
  /** The expected bars, derived from the entries. */
  const barsOf = (lanes: readonly Lane[]) =>
    lanes.flatMap(({ name, strips }) =>
      strips.flatMap((strip) =>
        Array.from({ length: strip.size }, (_, index) => strip.bar(index)).map(({ kind, from, to, failure }) => ({
          name,
          kind,
          from,
          to,
          isBad: failure !== null,
        })),
      ),
    );

  it('contain every cycle, phase, attempt, wait, call, and capability, and keep their position while a run grows', () => {
    for (const entries of runs) {
      const { fold, ...growing } = folded([]);
      const source = createLanes(fold, 'run');
      let names: readonly string[] = [];
      for (const entry of entries) {
        growing.log.add([JSON.stringify(entry)], fold.take);
        const now = source.lanes().map(({ name }) => name);
        expect(now.slice(0, names.length)).toEqual(names);
        names = now;
      }
      const bars = barsOf(source.lanes());
      const from = (kinds: readonly string[]) => bars.filter(({ kind }) => kinds.includes(kind)).map((bar) => bar.from);
      const seqs = (type: string) => entries.filter((entry) => entry.type === type).map(({ seq }) => seq);
      expect(bars.filter(({ name }) => name === 'Phases').map((bar) => bar.from)).toEqual(seqs('phase-start'));
      const starts = entries.filter((entry) => entry.type === 'phase-start');
      const cycles = starts.filter(({ cycle }, index) => cycle !== starts[index - 1]?.cycle);
      expect(from(['cycle'])).toEqual(cycles.map(({ seq }) => seq));
      expect(from(['decision'])).toEqual(seqs('decision'));
      expect(from(['event'])).toEqual(seqs('delivery'));
      expect(from(['attempt'])).toEqual(seqs('attempt-start'));
      expect(from(['wait'])).toEqual(seqs('attempt-retry'));
      expect(from(['capability'])).toEqual(seqs('capability-start'));
      const calls = entries.filter((entry) => entry.type === 'call-start' && !SHOWN_AS_STEPS.has(entry.actor));
      expect(from(['call', 'retrieval']).toSorted((one, other) => one - other)).toEqual(calls.map(({ seq }) => seq));
      for (const bar of bars) expect(bar.to === null || bar.to >= bar.from).toBe(true);
      const failed = entries.filter((entry) => entry.type === 'attempt-end' && entry.failure !== null);
      expect(bars.filter(({ kind, isBad }) => kind === 'attempt' && isBad)).toHaveLength(failed.length);
    }
  });

  it('of a third-party system are its machines, with each state from one transition to the next', () => {
    const [entries = []] = runs;
    const { fold } = folded(entries);
    const chart = createLanes(fold, 'system').lanes()[0];
    const steps = entries.filter(
      (entry) => entry.type === 'transition' && entry.machine === 'postChain' && entry.target.length > 0,
    );
    const strip = chart?.strips[0];
    expect(chart?.name).toBe('postChain');
    expect(strip?.size).toBe(steps.length);
    steps.forEach(({ seq }, index) => {
      expect([strip?.from(index), strip?.bar(index).to]).toEqual([seq, steps[index + 1]?.seq ?? null]);
    });
  });
});
