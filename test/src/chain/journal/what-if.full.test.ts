import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { whatIf } from '../../../../src/chain/journal/what-if.ts';
import { type FullRun, fullChain, fullRunArbitrary, runUntilEnded } from '../../../support/random-runs.ts';
import { entriesOf, type ScriptedRun } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const unit = fc.integer({ min: 0, max: 10 }).map((tenths) => tenths / 10);
const changesArbitrary = fc.record(
  {
    confidence: unit,
    grounding: unit,
    ungroundedConfidence: unit,
    change: unit,
    sufficiency: unit,
    loopRepeats: fc.integer({ min: 2, max: 4 }),
    crowdedMessages: fc.integer({ min: 1, max: 20 }),
  },
  { requiredKeys: [] },
);
const limitsArbitrary = fc.record({ maxCycles: fc.integer({ min: 1, max: 6 }) }, { requiredKeys: [] });

/** Streams are used up by the first run, so that the second one needs a copy. */
const first = <Value>(stream: Iterable<Value>): Value[] => {
  const values: Value[] = [];
  for (const value of stream) {
    if (values.push(value) === 300) break;
  }
  return values;
};

function fixed({ random, searches, embeds, works, remembers, ...rest }: FullRun): FullRun {
  const copy = {
    random: {
      ...random,
      // A direction within a cycle stays, even if the limits would refuse it.
      words: random.words.filter(({ word }) => word !== 'direct'),
      // Runs without a decision show little.
      faults: first(random.faults).map((fault, at) => (at % 4 === 0 ? fault : 'none')),
      answers: first(random.answers),
      wishes: first(random.wishes),
    },
    searches: first(searches),
    // Where the recorded run needed no embeddings, only words can be compared.
    embeds: first(embeds).fill('fails'),
    works: first(works),
    remembers: first(remembers),
    ...rest,
  };
  return copy as unknown as FullRun;
}

async function played(full: FullRun, thresholds: object): Promise<ScriptedRun['run']> {
  const { chain, clock } = fullChain(full, { thresholds });
  const run = chain.run({ request: 'Is it so?', startAt: full.random.startAt, mode: full.random.mode });
  await runUntilEnded(run, clock, full.random.words);
  return run;
}

const decisionsOf = (run: ScriptedRun['run']) =>
  entriesOf(run, 'decision').map(({ seq, decision }) => ({ seq, ...decision }));

describe('whatIf', () => {
  it('finds the first decision that a run with these numbers really takes differently', async () => {
    let differing = 0;
    await fc.assert(
      fc.asyncProperty(fullRunArbitrary, changesArbitrary, limitsArbitrary, async (drawn, thresholds, limits) => {
        const full = fixed(drawn);
        const recorded = await played(full, {});
        const changed = { ...full, random: { ...full.random, ...limits } } as FullRun;
        const real = await played(changed, thresholds);
        const set = {
          ...Object.fromEntries(Object.entries(thresholds).map(([name, value]) => [`thresholds.${name}`, value])),
          ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [`limits.${name}`, value])),
        };
        const { now, outcome } = whatIf(JSON.parse(JSON.stringify(recorded.entries)), set as Record<string, number>);
        const [before, after] = [decisionsOf(recorded), decisionsOf(real)];
        const at = before.findIndex(({ rule, nextPhase }, index) => {
          const other = after[index];
          return other === undefined || other.nextPhase !== nextPhase || (nextPhase === null && other.rule !== rule);
        });
        const other = after[at];
        if (at >= 0) differing += 1;
        if (at >= 0 && other !== undefined) {
          const { rule, nextPhase, cycle } = other;
          expect(now).toMatchObject({ rule, nextPhase, cycle, seq: before[at]?.seq });
        } else if (at < 0 && after.length > before.length && outcome === 'earlier') {
          // The user was asked in the recorded run; now a limit comes first.
          expect(now.rule).toBe(after[before.length]?.rule);
        } else if (at >= 0) {
          // In manual mode, the user is asked where a limit ended the recorded run.
          expect({ outcome, rule: now.rule, seq: now.seq }).toEqual({
            outcome: 'further',
            rule: null,
            seq: before[at]?.seq,
          });
        } else expect(outcome).toBe('same');
      }),
      { numRuns: sampleSize('changed limits', 8, 200), endOnFailure: true },
    );
    expect(differing).toBeGreaterThan(0);
  });
});
