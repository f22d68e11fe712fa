import { describe, expect, it } from 'vitest';
import type { ChainState } from '../../../machines/contracts/chain-state.ts';
import { decideToContinue } from '../../../machines/policies/decisions.ts';
import { finishPhase } from '../../../machines/policies/outcomes.ts';
import { enterPhase, failPhase, initialState } from '../../../machines/policies/progress.ts';
import { recency } from '../../../machines/policies/relevance.ts';
import { loopDetected } from '../../../machines/policies/yield-rules.ts';
import { aChainInput, failed, results, someLimits, succeeded } from '../../support/contract-samples.ts';
import { assistantMessage, retentionPlan, searchMessage } from '../../support/retention.ts';

/** A proxy of a value that counts every read at any depth. */
function watched<T extends object>(value: T, look: () => void): T {
  return new Proxy(value, {
    get(target, key, receiver) {
      look();
      const inner: unknown = Reflect.get(target, key, receiver);
      return typeof inner === 'object' && inner !== null ? watched(inner, look) : inner;
    },
  });
}

const reply = (cycle: number) => ({
  ...results.yield.reply,
  answer: `Answer ${cycle} of boat ${cycle * 7}.`,
  confidence: 0.5,
  taskComplete: false,
});

/** One cycle of Yield: a recovered failure, an answer, and a decision to continue. */
function cycled(state: ChainState, cycle: number): ChainState {
  let now: ChainState = { ...state, ...enterPhase(state, 'yield') };
  now = { ...now, ...finishPhase(now, 'intention', failed()) };
  now = { ...now, ...finishPhase(now, 'yield', succeeded(reply(cycle))) };
  now = { ...now, messages: state.messages, envelope: state.envelope };
  return { ...now, ...decideToContinue(now, 'nextPhaseChosen', 'action') };
}

describe('a run of 1,000 cycles', () => {
  const input = aChainInput({ limits: someLimits({ maxCycles: 100_000 }) });
  const states: ChainState[] = [initialState(input)];
  for (let cycle = 1; cycle <= 1_000; cycle += 1) states.push(cycled(states.at(-1) as ChainState, cycle));
  const at = (cycle: number) => states[cycle] as ChainState;

  it('[Y6] [Y11] keeps a bounded number of the newest history entries, decisions, and failures', () => {
    const { recursion, decisions, failures } = at(1_000);
    expect(recursion.history.map(({ cycle }) => cycle)).toEqual(Array.from({ length: 64 }, (_, place) => 937 + place));
    expect(decisions.map(({ cycle }) => cycle)).toEqual(Array.from({ length: 16 }, (_, place) => 985 + place));
    expect(failures).toHaveLength(16);
    expect(recursion).toMatchObject({ cycle: 1_001, completedCycles: 1_000, step: 1_000 });
  });

  it('[Y11] has a state of the same size as after 100 cycles, except for the digits of its numbers', () => {
    const size = (cycle: number) => JSON.stringify(at(cycle)).length;
    expect(size(1_000)).toBeLessThan(size(100) * 1.05);
  });

  it('[Y7] [Y11] reads as much for its next decision as after 100 cycles', () => {
    const looks = (cycle: number): number => {
      let count = 0;
      const { recursion, decisions, failures, assessment, ...others } = at(cycle);
      const given = watched({ recursion, decisions, failures, assessment }, () => {
        count += 1;
      });
      const state = {
        ...others,
        recursion: given.recursion,
        decisions: given.decisions,
        failures: given.failures,
        assessment: given.assessment,
      };
      const settled = { ...state, ...finishPhase(state, 'yield', succeeded(reply(5_000))) };
      loopDetected(settled);
      decideToContinue(settled, 'nextPhaseChosen', 'action');
      failPhase(settled, 'action', { ...at(cycle).failures[0] }.failure as never);
      return count;
    };
    expect(looks(100)).toBeGreaterThan(100);
    expect(looks(1_000)).toBe(looks(100));
  });
});

describe('a previous run with many cycles', () => {
  it('[U6] [U11] does not make its messages newer than those of the current run', () => {
    const [old] = initialState(
      aChainInput({ messages: [searchMessage('old', 'Tide tables.', { cycle: 50 })] }),
    ).messages;
    if (old === undefined) throw new Error('no message');
    expect(recency(3 - old.cycle, 2)).toBeLessThan(1);
    expect(retentionPlan([old, assistantMessage('n', 'Yes.', { cycle: 3 })], { cycle: 3 }).operations).toMatchObject([
      { operation: 'PRUNE', target: old.id },
    ]);
  });
});
