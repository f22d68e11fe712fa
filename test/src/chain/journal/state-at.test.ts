import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState, RecordedState } from '../../../../machines/contracts/chain-state.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import type { JournalStore } from '../../../../src/chain/journal/journal-format.ts';
import { stateAt, stateHistory } from '../../../../src/chain/journal/state-at.ts';
import { memoryJournals } from '../../../../src/chain/journal/stores.ts';
import { changesBetween, withChanges } from '../../../../src/chain/recording/state-changes.ts';
import { type RandomRun, randomChain, randomRunArbitrary, runUntilEnded } from '../../../support/random-runs.ts';
import { sampleSize } from '../../../support/soak.ts';

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Plays a run and keeps the chart's context after every step, by the number of the step's last entry. */
async function played(random: RandomRun) {
  const states = new Map<number, unknown>();
  const inner = memoryJournals();
  let state: () => unknown = () => null;
  const recorded = ({ inFlight: _, ...context }: ChainState): RecordedState => context;
  const journals: JournalStore = {
    ...inner,
    create(runId) {
      const writer = inner.create(runId);
      const write = (entries: readonly JournalEntry[]): void => {
        writer.write(entries);
        states.set(entries.at(-1)?.seq ?? 0, json(state()));
      };
      return { failure: null, write, close: () => writer.close() };
    },
  };
  const { chain, clock } = randomChain(random, { journals });
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  // The first step ends before run() returns.
  for (const seq of states.keys()) states.set(seq, json(recorded(run.actor.getSnapshot().context)));
  state = () => recorded(run.actor.getSnapshot().context);
  await runUntilEnded(run, clock, random.words);
  return { journal: json(run.journal) as JournalEntry[], states };
}

describe('stateAt', () => {
  it('[U12] returns the context after every step', async () => {
    await fc.assert(
      fc.asyncProperty(randomRunArbitrary, async (random) => {
        const { journal, states } = await played(random);
        expect(states.size).toBeGreaterThan(0);
        for (const [seq, state] of states) expect(json(stateAt(journal, seq)), `after ${seq}`).toEqual(state);
        expect(json(stateHistory(journal).problem)).toBeNull();
      }),
      { numRuns: sampleSize('runs with states', 15, 300) },
    );
  });

  it('needs no journal store, and returns null before the first step has ended', async () => {
    const { chain, clock } = randomChain({ ...fc.sample(randomRunArbitrary, { numRuns: 1, seed: 7 })[0] } as RandomRun);
    const run = chain.run({ request: 'Is it so?' });
    await runUntilEnded(run, clock);
    expect(run.journal.some(({ type }) => type === 'state' || type === 'keyframe')).toBe(false);
    expect(stateAt(run.journal, 0)).toBeNull();
    expect(json(stateAt(run.journal, run.journal.length - 1))).toMatchObject({ request: 'Is it so?' });
  });

  it('knows only the keyframes of a run that another version of the chart recorded', async () => {
    const { chain, clock } = randomChain({ ...fc.sample(randomRunArbitrary, { numRuns: 1, seed: 7 })[0] } as RandomRun);
    const run = chain.run({ request: 'Is it so?' });
    await runUntilEnded(run, clock);
    const state = stateAt(run.journal, run.journal.length - 1) as RecordedState;
    const [start, second, ...others] = json(run.journal) as JournalEntry[];
    const old = [
      { ...start, chart: { id: 'postChain', digest: '00000000' } },
      { ...second, type: 'keyframe', state },
      ...others,
    ] as JournalEntry[];
    expect(stateHistory(old)).toEqual({
      states: [{ seq: 1, state }],
      problem: expect.stringContaining('keyframes only'),
    });
    expect([stateAt(old, 0), stateAt(old, 5)]).toEqual([null, state]);
  });
});

describe('changesBetween and withChanges', () => {
  it('transform any JSON value into any other', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
        const changes = json(changesBetween(before, after)) as ReturnType<typeof changesBetween>;
        expect(json(withChanges(before, changes))).toEqual(json(after));
      }),
      { numRuns: sampleSize('changes of JSON', 1_000, 50_000) },
    );
  });

  it('produce no more changes than there are differences', () => {
    const list = Array.from({ length: 1_000 }, (_, id) => ({ id }));
    const [first, second] = [
      { list, other: { a: 1, b: [1] } },
      { list: [...list, { id: 1_000 }], other: { a: 2, b: [1] } },
    ];
    expect(changesBetween(first, { ...first })).toEqual([]);
    expect(changesBetween(first, { ...second, other: { ...first.other, a: 2 } })).toEqual([
      { path: ['list'], at: 1_000, removed: 0, added: [{ id: 1_000 }] },
      { path: ['other', 'a'], value: 2 },
    ]);
    const one = list.with(500, { id: -1 });
    expect(changesBetween(list, one)).toEqual([{ path: [500, 'id'], value: -1 }]);
    expect(changesBetween(list, list.toSpliced(500, 1))).toEqual([{ path: [], at: 500, removed: 1, added: [] }]);
  });
});
