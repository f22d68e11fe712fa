import { describe, expect, it } from 'vitest';
import type { ActionState } from '../../../../machines/contracts/action-state.ts';
import type { CapabilityResult } from '../../../../machines/contracts/capability.ts';
import { failedResult } from '../../../../machines/policies/approvals.ts';
import { abortLoop, recordStep } from '../../../../machines/policies/capability-loop.ts';
import { anActionState } from '../../../support/action-machine.ts';
import { aCapabilityResult, deepFreeze } from '../../../support/contract-samples.ts';

const long = 'x'.repeat(2_000);

/** Returns the loop after these results. */
function loopAfter(results: readonly CapabilityResult[]): ActionState {
  let loop = deepFreeze(anActionState());
  for (const result of results) {
    const { capability, arguments: given, id } = result;
    const step = [{ capability, arguments: given, id, slot: 1, result }];
    loop = deepFreeze({ ...loop, ...recordStep({ ...loop, step }) });
  }
  return loop;
}

describe('the results of a loop', () => {
  const whole = aCapabilityResult({ arguments: { text: long }, output: long });

  it('keeps the newest sixteen whole', () => {
    expect(loopAfter(Array(16).fill(whole)).results).toEqual(Array(16).fill(whole));
    expect(loopAfter(Array(18).fill(whole)).results.slice(2)).toEqual(Array(16).fill(whole));
  });

  it('shortens the input and output of older ones', () => {
    const [first] = loopAfter(Array(17).fill(whole)).results;
    expect(first).toEqual({ ...whole, arguments: {}, output: expect.stringMatching(/^x{499}…$/) });
    const [failed] = loopAfter([
      aCapabilityResult({ success: false, output: '', code: 'threw', error: long }),
      ...Array(16).fill(whole),
    ]).results;
    expect(failed).toMatchObject({ arguments: { topic: 'bridges' }, error: expect.stringMatching(/^x{499}…$/) });
  });
});

describe('the memory of a loop', () => {
  it('[R4] contains the user message once, then one entry per run with the start of its output or its failure', () => {
    const failed = aCapabilityResult({ success: false, output: 'half', code: 'threw', error: 'no pen' });
    expect(loopAfter([aCapabilityResult({ output: long }), failed]).memory).toEqual([
      { role: 'user', content: 'Write a note.' },
      { role: 'assistant', capability: 'draft', success: true, summary: expect.stringMatching(/^x{499}…$/) },
      { role: 'assistant', capability: 'draft', success: false, summary: 'no pen' },
    ]);
  });
});

describe('a failed run', () => {
  const call = { id: 's1.action.1', capability: 'review', arguments: { words: 3 }, slot: 1, result: null };
  const running = anActionState({ step: [call], sessionId: 'talk-1', begun: 1 });

  it('[R2] [R7] is recorded with its arguments, duration, session, and failure', () => {
    expect(failedResult(running, call, 'timed_out', 'too late', 40)).toEqual({
      id: 's1.action.1',
      capability: 'review',
      arguments: { words: 3 },
      success: false,
      output: '',
      code: 'timed_out',
      error: 'too late',
      sessionId: 'talk-1',
      synthesized: false,
      startedAtMs: null,
      durationMs: 40,
    });
  });

  it('[R4] [R7] is recorded and remembered with the reason when it was aborted', () => {
    const { results, runs, memory, stopReason } = abortLoop(deepFreeze(running), 'the user left');
    const error = 'it was aborted: the user left';
    expect(results).toMatchObject([{ capability: 'review', success: false, code: 'aborted', error }]);
    expect([runs, stopReason]).toEqual([1, 'aborted']);
    expect(memory.at(-1)).toEqual({ role: 'assistant', capability: 'review', success: false, summary: error });
  });

  it('[R3] keeps the earlier results when the loop is aborted between two runs', () => {
    const loop = { ...loopAfter([aCapabilityResult()]), begun: 1 };
    expect(abortLoop(loop, 'the user left')).toEqual({ ...loop, stopReason: 'aborted' });
  });
});
