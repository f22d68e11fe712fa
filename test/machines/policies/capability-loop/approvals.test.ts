import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Approval, StepCall } from '../../../../machines/contracts/action-state.ts';
import {
  answerApproval,
  answerByProgram,
  applyEdits,
  approvalDigest,
  approvalRefusal,
  digestOfText,
  newQuestion,
} from '../../../../machines/policies/approvals.ts';
import { callWaits, startCall } from '../../../../machines/policies/capability-loop.ts';
import { anActionState } from '../../../support/action-machine.ts';

const STATES: readonly Approval['state'][] = [
  'pending',
  'editing',
  'approved',
  'edited',
  'denied',
  'timed_out',
  'responded',
];

const asking = { ...anActionState(), identity: 'r' };

/** A call in any state of its approval, perhaps with other arguments than those that were approved. */
const callArbitrary = fc
  .record({
    state: fc.option(fc.constantFrom(...STATES)),
    euros: fc.nat(3),
    approved: fc.nat(3),
    hasStarted: fc.boolean(),
  })
  .map(({ state, euros, approved, hasStarted }): StepCall => {
    const call = { capability: 'pay', arguments: { euros } };
    const question = newQuestion(asking, 1, { capability: 'pay', arguments: { euros: approved } });
    const started = hasStarted && state === null;
    return {
      ...call,
      id: started ? 's1.action.9' : null,
      slot: started ? 1 : null,
      result: null,
      ...(state !== null && { approval: { ...question, state } }),
    };
  });

describe('[Q2] the policy of starting calls', () => {
  it('starts only calls that need no approval, or are approved with exactly their arguments', () => {
    fc.assert(
      fc.property(fc.array(callArbitrary, { maxLength: 6 }), (step) => {
        const state = anActionState({ step, maxParallelCalls: 4 });
        const started = startCall(state, 2).step.filter((call, at) => call !== step[at]);
        const free = step.filter(
          ({ approval, slot, arguments: given }) =>
            slot === null &&
            (approval === undefined ||
              (['approved', 'edited'].includes(approval.state) &&
                approval.digest === approvalDigest('r', { capability: 'pay', arguments: given }))),
        );
        expect(started).toHaveLength(Math.min(1, free.length));
        if (free.length === 0) expect(callWaits(state, 1).holds).toBe(false);
        for (const call of started) expect(call).toMatchObject({ ...free[0], slot: 2, id: 's1.action.1' });
      }),
    );
  });
});

describe('[Q1] the digest of a call', () => {
  const ask = (number: number): StepCall => {
    const call = { capability: 'pay', arguments: { euros: number } };
    return {
      ...call,
      id: null,
      slot: null,
      result: null,
      approval: newQuestion({ ...asking, id: 'loop' }, number, call),
    };
  };

  it('is the same in any order of the arguments, and another one for other arguments', () => {
    const of = (given: Record<string, unknown>, capability = 'pay') =>
      approvalDigest('r', { capability, arguments: given });
    expect(of({ to: null, euros: { from: 1, to: 2 } })).toBe(of({ euros: { to: 2, from: 1 }, to: null }));
    const nested = [{ a: { b: 1 } }, { a: ['{}', ['b', 1]] }, { a: [['b', 1]] }, { a: ['[]', ['b', 1]] }];
    expect(new Set(nested.map((given) => of(given))).size).toBe(nested.length);
    expect(new Set([of({}), of({ a: 1 }), of({ a: '1' }), of({ a: [1] }), of({}, 'refund')]).size).toBe(5);
  });

  it('of arguments as text differs if any digit differs, and is that of no arguments for blank text', () => {
    const ofText = (text: string) => digestOfText('pay', text);
    expect(ofText(' ')).toBe(ofText('{}'));
    expect(ofText('{"id":9007199254740992}')).not.toBe(ofText('{"id":9007199254740993}'));
    expect(ofText('{"id":')).not.toBe(ofText('{"id"'));
  });

  it('is required of each answer, which decides only its own question, and only once', () => {
    const before = anActionState({ step: [ask(1), ask(2)] });
    const digest = before.step[1]?.approval?.digest ?? '';
    const answer = { questionId: 'loop.approval2', digest, decision: 'approve' } as const;
    expect(approvalRefusal(before, { ...answer, digest: before.step[0]?.approval?.digest ?? '' })).toBe('other_digest');
    expect(approvalRefusal(before, { ...answer, questionId: 'loop.approval3' })).toBe('other_question');
    expect(approvalRefusal(before, answer)).toBeNull();
    const after = { ...before, ...answerApproval(before, answer) };
    expect(after.step.map(({ approval }) => approval?.state)).toEqual(['pending', 'approved']);
    expect(after.step[1]?.approval?.by).toBe('user');
    expect(answerApproval(before, { ...answer, decision: 'deny' }).step[1]?.result?.error).toBe('denied by the user');
    expect(answerApproval(before, { ...answer, by: 'program' }).step[1]?.approval?.by).toBe('program');
    expect(approvalRefusal(after, { ...answer, decision: 'deny' })).toBe('already_answered');
    expect(answerApproval(after, { ...answer, decision: 'deny' }).step).toEqual(after.step);
  });

  it('is required of each answer of the program, which denies a call without its own answer', () => {
    const before = anActionState({ step: [ask(1), ask(2)] });
    const digest = before.step[1]?.approval?.digest ?? '';
    const answer = { digest, decision: 'approve' } as const;
    const answered = (questionId: string) =>
      answerByProgram(before, [{ ...answer, questionId }], 'no answer').step.map(({ approval, result }) => [
        approval?.state,
        result?.error,
      ]);
    const denied = ['denied', 'denied by the program: no answer'];
    expect(answered('loop.approval1')).toEqual([denied, denied]);
    expect(answered('loop.approval2')).toEqual([denied, ['approved', undefined]]);
  });

  it('decides whether an answer edits its call: only other arguments do', () => {
    const call = { capability: 'pay', arguments: { euros: 5, to: 'Ada' } };
    const asked = { ...call, id: null, slot: null, result: null, approval: newQuestion(asking, 1, call) };
    const { questionId, digest } = asked.approval;
    const answered = (edited: Record<string, unknown>) =>
      answerApproval(anActionState({ step: [asked] }), { questionId, digest, decision: 'approve', arguments: edited })
        .step[0]?.approval;
    expect(answered({ to: 'Ada', euros: 5 })).toEqual({ ...asked.approval, state: 'approved', by: 'user' });
    expect(answered({ to: 'Ada', euros: 4 })).toMatchObject({ state: 'editing', edited: { to: 'Ada', euros: 4 } });
  });

  it('is that of the edited arguments, once they are valid; without a check, none are', () => {
    const edit = (number: number, by: 'user' | 'program'): StepCall => {
      const { approval, ...call } = ask(number);
      return { ...call, approval: { ...(approval as Approval), state: 'editing', by, edited: { euros: '4' } } };
    };
    const state = anActionState({ asked: 3, step: [edit(1, 'user'), edit(2, 'user'), edit(3, 'program')] });
    const valid = { ok: true, arguments: { euros: 4 }, needsApproval: false } as const;
    const invalid = { ok: false, code: 'arguments_misfit', problem: 'no euros' } as const;
    const { step, asked } = applyEdits(state, [invalid, valid], 'no check');
    const digest = approvalDigest('r', { capability: 'pay', arguments: { euros: 4 } });
    const problem = 'the edited arguments are invalid';
    expect(asked).toBe(4);
    expect(step).toMatchObject([
      { arguments: { euros: 1 }, approval: { state: 'pending', reason: `${problem}: no euros` } },
      { arguments: { euros: 4 }, approval: { state: 'edited', digest, original: { euros: 2 } } },
      { arguments: { euros: 3 }, result: { code: 'denied', error: `denied by the program: ${problem}: no check` } },
    ]);
  });
});
