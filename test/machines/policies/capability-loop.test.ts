import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  capabilityKnown,
  continuationLimit,
  nothingToRun,
  synthesizeLast,
} from '../../../machines/policies/capability-loop.ts';
import { aCapabilityResult } from '../contracts/samples.ts';
import { deepFreeze } from './deep-freeze.ts';

const known = ['draft', 'review'].map((name) => ({ name, description: 'Does it.', arguments: {} }));
const runs = (count: number) => Array.from({ length: count }, () => aCapabilityResult());

describe('the rules of the capability loop', () => {
  it('[R5] there is nothing to run without a wish', () => {
    expect(nothingToRun(null)).toEqual({ holds: true, inputs: { capability: null } });
    expect(nothingToRun({ capability: 'draft', arguments: '{}' })).toMatchObject({ inputs: { capability: 'draft' } });
    expect(nothingToRun({ capability: 'draft', arguments: '{}' }).holds).toBe(false);
  });

  it.each([
    ['draft', true],
    ['', false],
    ['Draft', false],
    [' draft', false],
    ['toString', false],
    ['unknown', false],
  ])('[R5] the name %j is known: %s', (capability, wanted) => {
    expect(capabilityKnown({ capability, arguments: '{}' }, known)).toEqual({
      holds: wanted,
      inputs: { capability, known: 2 },
    });
  });

  it('[R5] no wish, and no capabilities, are nothing known', () => {
    expect(capabilityKnown(null, known).holds).toBe(false);
    expect(capabilityKnown({ capability: 'draft', arguments: '{}' }, []).holds).toBe(false);
  });

  it('[R3] the limit is reached with as many runs as allowed and not before', () => {
    fc.assert(
      fc.property(fc.nat(12), fc.integer({ min: 1, max: 12 }), (count, maxContinuations) => {
        expect(continuationLimit(runs(count), maxContinuations)).toEqual({
          holds: count >= maxContinuations,
          inputs: { runs: count, maxContinuations },
        });
      }),
    );
  });

  it('[R5] a final output that says something takes the place of the last result only', () => {
    const results = deepFreeze(runs(3));
    expect(synthesizeLast(results, 'the end')).toEqual([
      ...results.slice(0, 2),
      { ...aCapabilityResult(), output: 'the end', synthesized: true },
    ]);
  });

  it.each([null, '', '  \n'])('[R5] the final output %j leaves the last result as it is', (finalOutput) => {
    expect(synthesizeLast(deepFreeze(runs(2)), finalOutput)).toEqual(runs(2));
  });

  it('[R5] a final output without any run stands for nothing', () => {
    expect(synthesizeLast([], 'the end')).toEqual([]);
  });
});
