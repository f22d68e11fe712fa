import type { RunCharts } from '../../src/inspection/wire.ts';
import { type ActiveStates, activeStatesAt } from './active-states.ts';
import { copyKey } from './chart-copies.ts';
import { ancestorsOf, chartIndexOf } from './chart-index.ts';
import type { RunFold } from './run-fold.ts';
import { countUpTo, createRunningTotal, lastStartedBy, type RunningTotal } from './sorted.ts';

/** What happened in a state and its descendants. */
export interface Measure {
  /** The number of runs that visited it. */
  readonly runs: number;
  readonly ms: number;
  readonly visits: number;
  /** Model calls. */
  readonly calls: number;
  /** Input and output tokens of model calls. */
  readonly tokens: number;
  readonly retries: number;
  /** Failed attempts and failed calls. */
  readonly failures: number;
}

export const NOTHING: Measure = { runs: 0, ms: 0, visits: 0, calls: 0, tokens: 0, retries: 0, failures: 0 };

/** The measures of all states of a run's charts at any entry. */
interface StateMeasures {
  /** `key`: the id of a chart, or the key of a copy of an invoked chart. */
  at(key: string, stateId: string, seq: number): Measure;
  /** The copies of invoked charts that ran so far, by key, with the ids of their charts. */
  readonly copies: ReadonlyMap<string, string>;
}

interface StateRecord {
  readonly visitLog: VisitLog;
  readonly calls: RunningTotal<number>;
  readonly tokens: RunningTotal<number>;
  readonly retries: RunningTotal<number>;
  readonly failures: RunningTotal<number>;
}

interface Credit {
  readonly seq: number;
  readonly kind: 'calls' | 'tokens' | 'retries' | 'failures';
  readonly amount: number;
  /** The start of the call: its cost counts for the states active then. */
  readonly startedAt: number;
}

const known = new WeakMap<RunFold, { readonly charts: RunCharts; readonly measures: Growing }>();

interface Growing extends StateMeasures {
  catchUp(): void;
}

/** The measures of a run so far; reads only entries added since the last call. */
export function stateMeasuresOf(fold: RunFold, charts: RunCharts): StateMeasures {
  const cached = known.get(fold);
  const measures = cached?.charts === charts ? cached.measures : createMeasures(fold, charts);
  known.set(fold, { charts, measures });
  measures.catchUp();
  return measures;
}

function createMeasures({ transitions, spans, entries, timeLine }: RunFold, charts: RunCharts): Growing {
  const records = new Map<string, StateRecord>();
  const copies = new Map<string, string>();
  const index = chartIndexOf(charts);
  let active: ActiveStates | null = null;
  let moves = 0;
  let attempts = 0;
  let calls = 0;
  let counted = 0;
  let retries = 0;
  const openAttempts = new Set<number>();
  const openCalls = new Set<number>();

  /** The keys under which a chart's states are measured: the chart, and its copy. */
  function keysOf(chartId: string, { insideOf }: ActiveStates): readonly string[] {
    const host = insideOf[chartId] ?? null;
    if (host === null) return [chartId];
    const copy = copyKey(chartId, host);
    copies.set(copy, chartId);
    return [chartId, copy];
  }

  function recordOf(chart: string, stateId: string): StateRecord {
    const key = `${chart} ${stateId}`;
    const cached = records.get(key) ?? {
      visitLog: createVisitLog(timeLine.atMs),
      calls: createRunningTotal(0),
      tokens: createRunningTotal(0),
      retries: createRunningTotal(0),
      failures: createRunningTotal(0),
    };
    records.set(key, cached);
    return cached;
  }

  function update(seq: number): void {
    const now = activeStatesAt(transitions, charts, seq);
    for (const { id } of charts.charts) {
      const [before, after] = [active?.active[id], now.active[id]];
      // A different invoking state means a different machine, even in the same configuration.
      const isAnother = active?.insideOf[id]?.stateId !== now.insideOf[id]?.stateId;
      if (before === after && !isAnother) continue;
      for (const key of active === null ? [] : keysOf(id, active))
        for (const state of before ?? []) if (isAnother || !after?.has(state)) recordOf(key, state).visitLog.end(seq);
      for (const key of keysOf(id, now))
        for (const state of after ?? []) if (isAnother || !before?.has(state)) recordOf(key, state).visitLog.begin(seq);
    }
    active = now;
  }

  /** Credits the innermost active states that invoke something, and their ancestors. */
  function give({ seq, kind, amount, startedAt }: Credit): void {
    const states = activeStatesAt(transitions, charts, startedAt);
    for (const [chartId, leaves] of Object.entries(states.leaf)) {
      const chart = index.chart(chartId);
      if (chart === undefined) continue;
      const owners = new Set<string>();
      for (const leaf of leaves) {
        let invokesActor = false;
        for (const { id, invokes } of ancestorsOf(chart, leaf)) {
          invokesActor ||= invokes.length > 0;
          if (invokesActor) owners.add(id);
        }
      }
      for (const key of keysOf(chartId, states))
        for (const id of owners) recordOf(key, id)[kind].update(seq, (sum) => sum + amount);
    }
  }

  function advance(): void {
    const { seqs } = transitions;
    for (;;) {
      const next = seqs[moves] ?? Number.POSITIVE_INFINITY;
      const startedAt = spans.attempts[attempts]?.from ?? Number.POSITIVE_INFINITY;
      if (next === Number.POSITIVE_INFINITY && startedAt === next) return;
      if (next < startedAt) moves += 1;
      else {
        openAttempts.add(attempts);
        attempts += 1;
      }
      update(Math.min(next, startedAt));
    }
  }

  function newCredits(): Credit[] {
    const credits: Credit[] = [];
    for (; counted < attempts; counted += 1) {
      const seq = spans.attempts[counted]?.from ?? 0;
      credits.push({ seq, kind: 'calls', amount: 1, startedAt: seq });
    }
    for (const at of openAttempts) {
      const { from, to, usage, failure } = spans.attempts[at] ?? { from: 0, to: null, usage: null, failure: null };
      if (to === null) continue;
      openAttempts.delete(at);
      const tokens = (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0);
      if (tokens > 0) credits.push({ seq: to, kind: 'tokens', amount: tokens, startedAt: from });
      if (failure !== null) credits.push({ seq: to, kind: 'failures', amount: 1, startedAt: from });
    }
    for (; calls < spans.calls.length; calls += 1) openCalls.add(calls);
    for (const at of openCalls) {
      const { from, to, outcome } = spans.calls[at] ?? { from: 0, to: null, outcome: null };
      if (to === null) continue;
      openCalls.delete(at);
      // A reply that fails is already counted as a failed attempt.
      if (outcome === 'failed' && spans.calls[at]?.actor !== 'readReply')
        credits.push({ seq: to, kind: 'failures', amount: 1, startedAt: from });
    }
    const retrySeqs = entries.of('attempt-retry');
    for (; retries < retrySeqs.length; retries += 1) {
      const seq = retrySeqs[retries] ?? 0;
      credits.push({ seq, kind: 'retries', amount: 1, startedAt: lastStartedBy(spans.attempts, seq)?.from ?? seq });
    }
    return credits.sort((left, right) => left.seq - right.seq);
  }

  return {
    catchUp() {
      if (timeLine.count === 0) return;
      if (active === null) update(0);
      advance();
      for (const credit of newCredits()) give(credit);
    },
    copies,
    at(key, stateId, seq) {
      const record = records.get(`${key} ${stateId}`);
      if (record === undefined) return NOTHING;
      const { visitLog, calls, tokens, retries, failures } = record;
      const visited = visitLog.at(seq);
      return {
        ...visited,
        runs: Math.min(1, visited.visits),
        calls: calls.at(seq),
        tokens: tokens.at(seq),
        retries: retries.at(seq),
        failures: failures.at(seq),
      };
    },
  };
}

/** Sums the measures of one state over several runs. */
export function sumMeasures(measures: readonly Measure[]): Measure {
  return measures.reduce(
    (sum, { runs, ms, visits, calls, tokens, retries, failures }) => ({
      runs: sum.runs + runs,
      ms: sum.ms + ms,
      visits: sum.visits + visits,
      calls: sum.calls + calls,
      tokens: sum.tokens + tokens,
      retries: sum.retries + retries,
      failures: sum.failures + failures,
    }),
    NOTHING,
  );
}

/** The visits of a state. */
interface VisitLog {
  begin(seq: number): void;
  end(seq: number): void;
  /** The number and total duration of the visits up to an entry. */
  at(seq: number): { readonly visits: number; readonly ms: number };
}

function createVisitLog(msOf: (seq: number) => number): VisitLog {
  const from: number[] = [];
  const to: number[] = [];
  /** The total duration of all earlier visits, for each visit. */
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
    at(seq) {
      const visits = countUpTo(from, seq);
      if (visits === 0) return { visits, ms: 0 };
      const last = visits - 1;
      return { visits, ms: (before[last] ?? 0) + lengthOf(last, Math.min(seq, to[last] ?? seq)) };
    },
  };
}
