import { describe, expect, it } from 'vitest';
import {
  continuationLimitReached,
  modelMayDecide,
  nextStepInvalid,
  runMs,
  stepProblem,
} from '../../../../machines/policies/capability-loop.ts';
import { NO_USAGE } from '../../../../machines/policies/usage.ts';
import { anActionState } from '../../../support/action-machine.ts';

const wish = (capability: string) => anActionState({ calls: [{ capability, arguments: '{}' }] });

describe('the rules of the capability loop', () => {
  it.each([
    ['draft', null],
    ['', 'empty_name'],
    ['  \n', 'empty_name'],
    ['Draft', 'unknown_capability'],
    [' draft', 'unknown_capability'],
    ['toString', 'unknown_capability'],
    ['__proto__', 'unknown_capability'],
    ['unknown', 'unknown_capability'],
  ])('[R5] reports the name %j as invalid: %s', (capability, cause) => {
    expect(nextStepInvalid(wish(capability))).toEqual({
      holds: cause !== null,
      inputs: { capability, cause, known: 2 },
    });
  });

  it('[R5] describes the failure in one line regardless of the length of the name', () => {
    const message = `unknown capability "${'x'.repeat(100)}"`;
    expect(stepProblem(wish('x'.repeat(5_000)))).toEqual({ code: 'unknown_capability', message });
    expect(stepProblem(wish('a\nb'))?.message).toBe('unknown capability "a\\nb"');
  });

  it('[R5] keeps the original cause of an unreadable step', () => {
    const problem = { code: 'missing_name' as const, message: 'it has none' };
    expect(nextStepInvalid(anActionState({ continuation: { done: false, next: [] }, problem }))).toMatchObject({
      holds: true,
      inputs: { cause: 'missing_name' },
    });
  });

  it('[R3] reaches the limit exactly at the maximum number of runs', () => {
    const limitAfter = (runs: number) => continuationLimitReached(anActionState({ runs, maxContinuations: 3 }));
    expect([2, 3, 4].map((runs) => limitAfter(runs).holds)).toEqual([false, true, true]);
    expect(limitAfter(2).inputs).toEqual({ runs: 2, maxContinuations: 3 });
  });

  it('[R6] asks the model only if it is the decider and calls and tokens remain', () => {
    const base = anActionState({ decider: 'model', maxTokens: 100 });
    const asked = (modelCalls: number, inputTokens: number, changes = {}) => {
      const usage = { ...NO_USAGE, modelCalls, inputTokens };
      const policy = { ...base.policy, maxCalls: 3 };
      return modelMayDecide({ ...base, policy, execution: { ...base.execution, usage }, ...changes }).holds;
    };
    expect([asked(2, 99), asked(3, 99), asked(2, 100), asked(2, 99, { decider: 'function' })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('[R10] prefers the timeout of a capability to that of the loop', () => {
    const state = wish('draft');
    const call = { capability: 'draft', arguments: {}, id: null, slot: 1, result: null };
    const [first, ...others] = state.input.capabilities;
    const capabilities = [{ ...(first as NonNullable<typeof first>), timeoutMs: 7 }, ...others];
    expect(runMs(state, call)).toBe(1_000);
    expect(runMs({ ...state, input: { ...state.input, capabilities } }, call)).toBe(7);
  });
});
