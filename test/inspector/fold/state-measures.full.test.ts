import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { activeStatesAt } from '../../../inspector/fold/active-states.ts';
import { createRunFold } from '../../../inspector/fold/run-fold.ts';
import { type Measure, NOTHING, stateMeasuresOf, sumMeasures } from '../../../inspector/fold/state-measures.ts';
import type { JournalEntry } from '../../../machines/contracts/journal.ts';
import { folded, ownCharts } from '../../support/inspector/inspected-runs.ts';
import { randomRunArbitrary, startRandomRun } from '../../support/random-runs.ts';
import { sampleSize } from '../../support/soak.ts';

/** The same measurements by a walk over all entries. */
function walked(entries: readonly JournalEntry[], until: number): Map<string, Measure> {
  const { transitions } = folded(entries).fold;
  const sums = new Map<string, Measure>();
  const add = (key: string, more: Partial<Measure>): void => {
    const sum = sums.get(key) ?? NOTHING;
    const visits = sum.visits + (more.visits ?? 0);
    sums.set(key, {
      runs: Math.min(1, visits),
      ms: sum.ms + (more.ms ?? 0),
      visits,
      calls: sum.calls + (more.calls ?? 0),
      tokens: sum.tokens + (more.tokens ?? 0),
      retries: sum.retries + (more.retries ?? 0),
      failures: sum.failures + (more.failures ?? 0),
    });
  };
  let before = new Map<string, string>();
  let phaseStates: readonly string[] = [];
  for (const entry of entries.slice(0, until + 1)) {
    const { active, insideOf } = activeStatesAt(transitions, ownCharts, entry.seq);
    const now = new Map(
      Object.entries(active).flatMap(([chart, states]) =>
        [...states].map((state) => [`${chart} ${state}`, insideOf[chart]?.stateId ?? ''] as const),
      ),
    );
    const ms = entry.atMs - (entries[entry.seq - 1]?.atMs ?? entry.atMs);
    for (const key of before.keys()) add(key, { ms });
    for (const [key, inside] of now) if (before.get(key) !== inside) add(key, { visits: 1 });
    before = now;
    // The main chart alone, where model calls belong to the state that runs the attempt.
    if (entry.type === 'attempt-start')
      phaseStates = [...now.keys()].filter((key) => key.startsWith('postChain ') || key === 'attempt attempt.calling');
    if (entry.type === 'attempt-start') for (const key of phaseStates) add(key, { calls: 1 });
    const owners = phaseStates;
    if (entry.type === 'attempt-end')
      for (const key of owners)
        add(key, {
          tokens: entry.usage.inputTokens + entry.usage.outputTokens,
          failures: entry.failure === null ? 0 : 1,
        });
    if (entry.type === 'attempt-retry') for (const key of owners) add(key, { retries: 1 });
  }
  return sums;
}

const isCompared = (chart: string, state: string): boolean => chart === 'postChain' || state === 'attempt.calling';

describe('measurements of each state', () => {
  it('equal a walk over all entries, at any entry', async () => {
    let retried = 0;
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, fc.double({ min: 0, max: 1, noNaN: true }), async (random, share) => {
        const { run } = await startRandomRun(random);
        const fold = folded(run.journal).fold;
        const measures = stateMeasuresOf(fold, ownCharts);
        const until = Math.floor(share * (run.journal.length - 1));
        const expected = walked(run.journal, until);
        for (const { id, states } of ownCharts.charts)
          for (const { id: state } of states) {
            const measure = measures.at(id, state, until);
            const wanted = expected.get(`${id} ${state}`) ?? NOTHING;
            expect(measure.ms, state).toBeCloseTo(wanted.ms, 3);
            expect(measure.visits, state).toBe(wanted.visits);
            // Each copy of an invoked chart has its own part of the sum.
            const copies = [...measures.copies].flatMap(([key, chart]) =>
              chart === id ? [measures.at(key, state, until)] : [],
            );
            const sum = { ...sumMeasures(copies), ms: 0, runs: measure.runs };
            if (copies.length > 0) expect(sum, state).toEqual({ ...measure, ms: 0 });
            if (!isCompared(id, state)) continue;
            const { calls, tokens, retries } = measure;
            expect({ state, calls, tokens, retries }).toEqual({
              state,
              calls: wanted.calls,
              tokens: wanted.tokens,
              retries: wanted.retries,
            });
            expect(measure.failures, state).toBeGreaterThanOrEqual(wanted.failures);
            retried += retries;
          }
      }),
      { numRuns: sampleSize('measured states', 12, 200) },
    );
    expect(retried).toBeGreaterThan(0);
  });

  it('are the same when entries arrive one by one', async () => {
    await fc.assert(
      fc.asyncProperty(
        randomRunArbitrary,
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        async (random, sizes) => {
          const { run } = await startRandomRun(random);
          const fold = createRunFold();
          const next = sizes[Symbol.iterator]();
          let left = 0;
          for (const entry of run.journal) {
            fold.take(entry);
            left -= 1;
            if (left > 0) continue;
            stateMeasuresOf(fold, ownCharts);
            left = next.next().value ?? 1;
          }
          const last = run.journal.length - 1;
          const [grown, whole] = [
            stateMeasuresOf(fold, ownCharts),
            stateMeasuresOf(folded(run.journal).fold, ownCharts),
          ];
          for (const { id, states } of ownCharts.charts)
            for (const { id: state } of states) expect(grown.at(id, state, last)).toEqual(whole.at(id, state, last));
        },
      ),
      { numRuns: sampleSize('measured full states', 8, 100) },
    );
  });

  it('have all tokens and the whole duration in the root state', async () => {
    const [random] = fc.sample(randomRunArbitrary, { numRuns: 1, seed: 7 });
    if (random === undefined) throw new Error('no run');
    const { run } = await startRandomRun(random);
    const ends = run.journal.filter((entry) => entry.type === 'attempt-end');
    const last = run.journal.length - 1;
    const root = stateMeasuresOf(folded(run.journal).fold, ownCharts).at('postChain', 'postChain', last);
    expect(root.tokens).toBe(ends.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0));
    expect(root.ms).toBe((run.journal.at(-1)?.atMs ?? 0) - (run.journal[0]?.atMs ?? 0));
    expect(root.visits).toBe(1);
  });
});
