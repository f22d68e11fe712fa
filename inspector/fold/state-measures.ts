import type { RunCharts } from '../../src/inspection/wire.ts';
import { chartBook, outwards } from './chart-index.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, lastBegunBy } from './sorted.ts';
import { type Standing, standingAt } from './standing.ts';

/** What went on in a state, and in all states within it. */
export interface Measure {
  readonly ms: number;
  readonly visits: number;
  /** Of the model calls made there, input and output. */
  readonly tokens: number;
  readonly retries: number;
  /** Model calls that failed, and other calls that broke. */
  readonly failures: number;
}

export const NOTHING: Measure = { ms: 0, visits: 0, tokens: 0, retries: 0, failures: 0 };

/** The measures of all states of a run's charts, by any entry of it. */
export interface StateMeasures {
  by(chartId: string, stateId: string, seq: number): Measure;
}

interface StateRecord {
  readonly stays: Stays;
  readonly tokens: RunningSum;
  readonly retries: RunningSum;
  readonly failures: RunningSum;
}

interface Credit {
  readonly seq: number;
  readonly kind: 'tokens' | 'retries' | 'failures';
  readonly amount: number;
  /** The start of the call: its cost counts for the states active then. */
  readonly begun: number;
}

const known = new WeakMap<RunFold, { readonly charts: RunCharts; readonly measures: Growing }>();

interface Growing extends StateMeasures {
  catchUp(): void;
}

/** The measures of a run so far; reads only entries added since the last call. */
export function stateMeasuresOf(fold: RunFold, charts: RunCharts): StateMeasures {
  const there = known.get(fold);
  const measures = there?.charts === charts ? there.measures : createMeasures(fold, charts);
  known.set(fold, { charts, measures });
  measures.catchUp();
  return measures;
}

function createMeasures({ transitions, spans, places, timeLine }: RunFold, charts: RunCharts): Growing {
  const records = new Map<string, StateRecord>();
  const book = chartBook(charts);
  let standing: Standing | null = null;
  let moves = 0;
  let attempts = 0;
  let calls = 0;
  let retries = 0;
  const openAttempts = new Set<number>();
  const openCalls = new Set<number>();

  function recordOf(chartId: string, stateId: string): StateRecord {
    const key = `${chartId} ${stateId}`;
    const there = records.get(key) ?? {
      stays: createStays(timeLine.atMs),
      tokens: createRunningSum(),
      retries: createRunningSum(),
      failures: createRunningSum(),
    };
    records.set(key, there);
    return there;
  }

  function stand(seq: number): void {
    const now = standingAt(transitions, charts, seq);
    for (const { id } of charts.charts) {
      const [before, after] = [standing?.active[id], now.active[id]];
      // A different invoking state means a different machine, even in the same configuration.
      const isAnother = standing?.insideOf[id]?.stateId !== now.insideOf[id]?.stateId;
      if (before === after && !isAnother) continue;
      for (const state of before ?? []) if (isAnother || !after?.has(state)) recordOf(id, state).stays.end(seq);
      for (const state of after ?? []) if (isAnother || !before?.has(state)) recordOf(id, state).stays.begin(seq);
    }
    standing = now;
  }

  /** The states in which a call was made: the innermost ones that ask somebody, and those around them. */
  function give({ seq, kind, amount, begun }: Credit): void {
    const { leaf } = standingAt(transitions, charts, begun);
    for (const [chartId, leaves] of Object.entries(leaf)) {
      const chart = book.chart(chartId);
      if (chart === undefined) continue;
      const owners = new Set<string>();
      for (const leaf of leaves) {
        let asks = false;
        for (const { id, invokes } of outwards(chart, leaf)) {
          asks ||= invokes.length > 0;
          if (asks) owners.add(id);
        }
      }
      for (const id of owners) recordOf(chartId, id)[kind].add(seq, amount);
    }
  }

  function move(): void {
    const { seqs } = transitions;
    for (;;) {
      const next = seqs[moves] ?? Number.POSITIVE_INFINITY;
      const begun = spans.attempts[attempts]?.from ?? Number.POSITIVE_INFINITY;
      if (next === Number.POSITIVE_INFINITY && begun === next) return;
      if (next < begun) moves += 1;
      else {
        openAttempts.add(attempts);
        attempts += 1;
      }
      stand(Math.min(next, begun));
    }
  }

  function creditsSince(): Credit[] {
    const credits: Credit[] = [];
    for (const at of openAttempts) {
      const { from, to, usage, failure } = spans.attempts[at] ?? { from: 0, to: null, usage: null, failure: null };
      if (to === null) continue;
      openAttempts.delete(at);
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      if (tokens > 0) credits.push({ seq: to, kind: 'tokens', amount: tokens, begun: from });
      if (failure !== null) credits.push({ seq: to, kind: 'failures', amount: 1, begun: from });
    }
    for (; calls < spans.calls.length; calls += 1) openCalls.add(calls);
    for (const at of openCalls) {
      const { from, to, outcome } = spans.calls[at] ?? { from: 0, to: null, outcome: null };
      if (to === null) continue;
      openCalls.delete(at);
      // What breaks while a reply is read is a failed attempt, and was counted.
      if (outcome === 'broken' && spans.calls[at]?.port !== 'readReply')
        credits.push({ seq: to, kind: 'failures', amount: 1, begun: from });
    }
    const again = places.of('attempt-retry');
    for (; retries < again.length; retries += 1) {
      const seq = again[retries] ?? 0;
      credits.push({ seq, kind: 'retries', amount: 1, begun: lastBegunBy(spans.attempts, seq)?.from ?? seq });
    }
    return credits.sort((left, right) => left.seq - right.seq);
  }

  return {
    catchUp() {
      if (timeLine.count === 0) return;
      if (standing === null) stand(0);
      move();
      for (const credit of creditsSince()) give(credit);
    },
    by(chartId, stateId, seq) {
      const record = records.get(`${chartId} ${stateId}`);
      if (record === undefined) return NOTHING;
      const { stays, tokens, retries: again, failures } = record;
      return { ...stays.by(seq), tokens: tokens.by(seq), retries: again.by(seq), failures: failures.by(seq) };
    },
  };
}

/** The same state, of several runs. */
export function together(measures: readonly Measure[]): Measure {
  return measures.reduce(
    (sum, { ms, visits, tokens, retries, failures }) => ({
      ms: sum.ms + ms,
      visits: sum.visits + visits,
      tokens: sum.tokens + tokens,
      retries: sum.retries + retries,
      failures: sum.failures + failures,
    }),
    NOTHING,
  );
}

/** What has come together by each entry: a number that only grows, looked up by searching. */
interface RunningSum {
  /** Entries must come in order. */
  add(seq: number, amount: number): void;
  by(seq: number): number;
}

function createRunningSum(): RunningSum {
  const seqs: number[] = [];
  const sums: number[] = [];
  return {
    add(seq, amount) {
      seqs.push(seq);
      sums.push((sums.at(-1) ?? 0) + amount);
    },
    by: (seq) => sums[countUpTo(seqs, seq) - 1] ?? 0,
  };
}

/** When something was so, from one entry to another, again and again. */
interface Stays {
  begin(seq: number): void;
  end(seq: number): void;
  /** How often it had begun by an entry, and how long it had been so, by the times of the entries. */
  by(seq: number): { readonly visits: number; readonly ms: number };
}

function createStays(msOf: (seq: number) => number): Stays {
  const from: number[] = [];
  const to: number[] = [];
  /** All that were over when each began, together. */
  const before: number[] = [];
  const lengthOf = (at: number, end: number): number => Math.max(0, msOf(end) - msOf(from[at] ?? end));
  return {
    begin(seq) {
      const last = from.length - 1;
      before.push(last < 0 ? 0 : (before[last] ?? 0) + lengthOf(last, to[last] ?? seq));
      from.push(seq);
    },
    end(seq) {
      to.push(seq);
    },
    by(seq) {
      const visits = countUpTo(from, seq);
      if (visits === 0) return { visits, ms: 0 };
      const last = visits - 1;
      return { visits, ms: (before[last] ?? 0) + lengthOf(last, Math.min(seq, to[last] ?? seq)) };
    },
  };
}
