import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countUpTo, lastStartedBy, lastUpTo } from '../../../inspector/fold/sorted.ts';
import { MIN_GAP_MS, TimeLine } from '../../../inspector/fold/time-line.ts';
import { isInternal } from '../../../inspector/fold/transition-log.ts';
import type { RecordedState } from '../../../machines/contracts/chain-state.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { stateAt as stateOf } from '../../../src/chain/journal/state-at.ts';
import { folded, randomRuns } from '../../support/inspector/inspected-runs.ts';
import { sampleSize } from '../../support/soak.ts';

const runs = await randomRuns(sampleSize('folded runs', 60, 100), 7);
const ascending = fc
  .array(fc.nat(50), { maxLength: 60 })
  .map((numbers) => numbers.toSorted((one, other) => one - other));

describe('binary search', () => {
  it('equals a linear search', () => {
    fc.assert(
      fc.property(ascending, fc.integer({ min: -1, max: 51 }), (numbers, limit) => {
        const upTo = numbers.filter((number) => number <= limit);
        expect(countUpTo(numbers, limit)).toBe(upTo.length);
        expect(lastUpTo(numbers, limit)).toBe(upTo.at(-1));
        const items = numbers.map((from, index) => ({ from, place: index }));
        expect(lastStartedBy(items, limit)).toBe(items[upTo.length - 1]);
      }),
    );
  });
});

describe('the folds of a run', () => {
  it('give the chart state at every entry like the fold of the journal', () => {
    for (const entries of runs) {
      const { fold } = folded(entries);
      for (const { seq } of entries) expect(fold.states.at(seq)).toEqual(stateOf(entries, seq));
    }
  });

  it('give the state that a decision is part of, with what it compared', () => {
    let compared = 0;
    for (const entries of runs) {
      const { fold } = folded(entries);
      for (const entry of entries) {
        if (entry.type !== 'decision' || typeof entry.decision.inputs['confidence'] !== 'number') continue;
        const state = fold.states.after(entry.seq) as RecordedState;
        expect(state.assessment?.confidence).toBeCloseTo(entry.decision.inputs['confidence'], 6);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(3);
  });

  it('know the type of every entry and the entries of every type', () => {
    for (const entries of runs) {
      const { entries: index } = folded(entries).fold;
      for (const { seq, type } of entries) expect(index.typeOf(seq)).toBe(type);
      for (const kind of new Set(entries.map(({ type }) => type)))
        expect(index.of(kind)).toEqual(entries.filter(({ type }) => type === kind).map(({ seq }) => seq));
    }
  });

  it('have a span for every phase, attempt, call, and capability, from its first to its last entry', () => {
    const seqs = (entries: readonly JournalEntry[], type: JournalEntry['type']): readonly number[] =>
      entries.filter((entry) => entry.type === type).map(({ seq }) => seq);
    for (const entries of runs) {
      const { phases, attempts, calls, capabilities } = folded(entries).fold.spans;
      expect(phases.map(({ from }) => from)).toEqual(seqs(entries, 'phase-start'));
      expect(attempts.map(({ from }) => from)).toEqual(seqs(entries, 'attempt-start'));
      expect(calls.map(({ from }) => from)).toEqual(seqs(entries, 'activity-start'));
      expect(capabilities.map(({ from }) => from)).toEqual(seqs(entries, 'capability-start'));
      for (const span of [...phases, ...attempts, ...calls, ...capabilities]) {
        expect(span.to).not.toBeNull();
        expect(span.to).toBeGreaterThan(span.from);
      }
      const ends = entries.filter((entry) => entry.type === 'attempt-end');
      for (const { attemptId, attempt, failure, usage, seq } of ends) {
        const span = attempts.find((one) => one.attemptId === attemptId && one.attempt === attempt);
        expect(span).toMatchObject({ to: seq, failure, usage });
      }
    }
  });

  it('assign each attempt its text chunks, its reply, and the delay before it', () => {
    let waits = 0;
    for (const entries of runs) {
      const { attempts } = folded(entries).fold.spans;
      let begun = -1;
      const own = attempts.map(() => [] as number[]);
      for (const entry of entries) {
        if (entry.type === 'attempt-start') begun += 1;
        if (entry.type === 'text-delta') own[begun]?.push(entry.seq);
        if (entry.type === 'attempt-retry') {
          expect(attempts[begun]?.backOff).toEqual({ at: entry.seq, inMs: entry.delayMs });
          waits += 1;
        }
      }
      expect(attempts.map(({ deltas }) => deltas)).toEqual(own);
      for (const { reply, deltas } of attempts) {
        const entry = entries[reply ?? -1];
        if (entry?.type !== 'activity-event' || entry.event.type !== 'reply.ended') continue;
        const text = deltas.map((seq) => (entries[seq] as { text: string }).text).join('');
        expect(entry.event.reply.text.startsWith(text) || text.startsWith(entry.event.reply.text)).toBe(true);
      }
    }
    expect(waits).toBeGreaterThan(0);
  });

  it('contain every transition in the order taken', () => {
    for (const entries of runs) {
      const { transitions } = folded(entries).fold;
      const created = entries.filter((entry) => entry.type === 'transition').filter((entry) => !isInternal(entry));
      expect(transitions.seqs).toEqual(created.map(({ seq }) => seq));
      expect(transitions.distinct.flatMap(({ seqs }) => seqs).toSorted((one, other) => one - other)).toEqual(
        transitions.seqs,
      );
      for (const { machine, source, target, event, seqs } of transitions.distinct)
        for (const seq of seqs) expect(entries[seq]).toMatchObject({ machine, source, target, event });
    }
  });
});

describe('the time axis', () => {
  const times = fc.array(fc.double({ min: 0, max: 5_000, noNaN: true }), { minLength: 1, maxLength: 3_000 });
  const lineOf = (gapsMs: readonly number[], isBusy = () => false) => {
    const line = new TimeLine(isBusy);
    let atMs = 0;
    for (const [seq, gapMs] of gapsMs.entries()) {
      // The line begins at the first entry.
      atMs += seq === 0 ? 0 : gapMs;
      line.take({ seq, atMs, type: 'stopped' });
    }
    return line;
  };

  it('shortens no time in which a call was running', () => {
    fc.assert(
      fc.property(times, (gapsMs) => {
        const line = lineOf(gapsMs, () => true);
        expect(line.gaps).toEqual([]);
        expect(line.drawnMs(line.count - 1)).toBeCloseTo(line.atMs(line.count - 1), 3);
      }),
      { numRuns: 10 },
    );
  });

  it('leaves out long idle gaps, and keeps all other times', () => {
    fc.assert(
      fc.property(times, (gapsMs) => {
        const line = lineOf(gapsMs);
        expect(line.count).toBe(gapsMs.length);
        let gaps = 0;
        for (let seq = 0; seq < gapsMs.length; seq += 1) {
          const drawn = line.drawnMs(seq) - line.drawnMs(seq - 1);
          const gapMs = line.atMs(seq) - line.atMs(seq - 1);
          expect(drawn).toBeCloseTo(gapMs > MIN_GAP_MS ? 0 : gapMs, 3);
          if (gapMs > MIN_GAP_MS) gaps += 1;
        }
        expect(line.gaps.length).toBe(gaps);
      }),
      { numRuns: 30 },
    );
  });
});
