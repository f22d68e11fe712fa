import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChainState, RecordedState } from '../../../../machines/contracts/chain-state.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { stateAt, stateHistory } from '../../../../src/chain/journal/state-at.ts';
import { memoryJournals } from '../../../../src/durable/journals/memory-journals.ts';
import { withWriters } from '../../../support/journal-files.ts';
import { type RandomRun, randomChain, randomRunArbitrary, runUntilEnded } from '../../../support/random-runs.ts';
import { sampleSize } from '../../../support/soak.ts';

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Plays a run and keeps the chart's context after every step, by the number of the step's last entry. */
async function played(random: RandomRun) {
  const states = new Map<number, unknown>();
  let state: () => unknown = () => null;
  const recorded = ({ inFlight: _, ...context }: ChainState): RecordedState => context;
  const journals = withWriters(memoryJournals(), (writer) => ({
    ...writer,
    write(entries) {
      writer.write(entries);
      // The start is stored before the first step.
      if (entries[0]?.seq !== 0) states.set(entries.at(-1)?.seq ?? 0, json(state()));
    },
  }));
  const { chain, clock } = randomChain(random, { journals });
  const run = chain.run({ request: 'Is it so?', startAt: random.startAt, mode: random.mode });
  // The first step ends before run() returns.
  for (const seq of states.keys()) states.set(seq, json(recorded(run.ref.getSnapshot().context)));
  state = () => recorded(run.ref.getSnapshot().context);
  await runUntilEnded(run, clock, random.words);
  return { journal: json(run.entries) as JournalEntry[], states };
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

  const aRun = async () => {
    const { chain, clock } = randomChain({ ...fc.sample(randomRunArbitrary, { numRuns: 1, seed: 7 })[0] } as RandomRun);
    const run = chain.run({ request: 'Is it so?' });
    await runUntilEnded(run, clock);
    return run;
  };

  it('needs no journal store, and returns null before the first step has ended', async () => {
    const run = await aRun();
    expect(stateAt(run.entries, 0)).toBeNull();
    expect(json(stateAt(run.entries, run.entries.length - 1))).toMatchObject({ request: 'Is it so?' });
  });

  it('does not know the states of a run that another version of the chart recorded', async () => {
    const [start, ...others] = json((await aRun()).entries) as JournalEntry[];
    const machine = { id: 'postChain', version: null, digest: '00000000' };
    const old = [{ ...start, machine }, ...others] as JournalEntry[];
    expect(stateHistory(old)).toEqual({
      states: [],
      problem: 'Another version of the chart recorded the run, so its state is unknown.',
    });
    expect(stateAt(old, 5)).toBeNull();
  });
});
