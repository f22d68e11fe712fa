import { describe, expect, it } from 'vitest';
import { type AnyMachineSnapshot, fromPromise, setup } from 'xstate';
import { type ApprovalDecision, approval } from '../../../../src/entries/durable.ts';
import { explore } from '../../../../src/testing/exploration/explore.ts';
import { done, fails } from '../../../../src/testing/exploration/occurrences.ts';
import { type PrecedesTimes, precedes, type StepMark } from '../../../../src/testing/properties/precedes.ts';
import { describeFinding, findingsOf } from '../../../../src/testing/properties/properties.ts';

/** A refund that a person approves. `shortcut` leads from the question to the payment without an approval. */
const refund = (shortcut: object = {}, after = 'asking') =>
  setup({ actors: { pay: fromPromise(async () => {}) }, actions: { notify: () => {} } }).createMachine({
    id: 'refund',
    initial: 'asking',
    states: {
      asking: { on: { approve: 'paying', deny: 'denied', ...shortcut } },
      paying: { invoke: { src: 'pay', onDone: { target: 'paid', actions: 'notify' }, onError: 'asking' } },
      paid: { on: { again: after } },
      denied: {},
    },
  });

function finding(machine: ReturnType<typeof refund>, first: StepMark, later: StepMark, times?: PrecedesTimes) {
  const exploration = explore(machine, { outcomes: { pay: [done(), fails()] } });
  return findingsOf(exploration, [precedes(first, later, times)]).map(describeFinding)[0];
}

const paying = (snapshot: AnyMachineSnapshot): boolean => snapshot.matches('paying');

describe('precedes', () => {
  it.each<StepMark>([
    { actor: 'pay' },
    { state: 'paying' },
    { state: 'refund.paying' },
    { action: 'notify' },
    { event: 'pay: done' },
    { state: paying },
    { event: ({ kind }) => kind === 'error' },
  ])('holds if the approval comes before %o on every path', (later) => {
    expect(finding(refund(), { event: 'approve' }, later)).toContain('holds');
  });

  it('fails with the shortest path on which it does not', () => {
    expect(finding(refund({ hurry: 'paying' }), { event: 'approve' }, { actor: 'pay' })).toBe(
      'FAILS: event "approve" before actor "pay": actor "pay" happens without event "approve", in "paying", after start → hurry',
    );
  });

  it('with each, demands it again before each further time', () => {
    const machine = refund({}, 'paying');
    expect(finding(machine, { event: 'approve' }, { actor: 'pay' })).toContain('holds');
    expect(finding(machine, { event: 'approve' }, { actor: 'pay' }, 'each')).toContain(
      'FAILS: event "approve" before each actor "pay": actor "pay" happens again without another event "approve", in "paying", after start → approve → pay: done → again',
    );
  });

  it('with each, counts a condition each time that it becomes true', () => {
    const loop = refund({}, 'asking');
    expect(finding(loop, { event: 'approve' }, { state: paying }, 'each')).toBe(
      'holds: event "approve" before each state "paying"',
    );
    expect(finding(refund({}, 'paying'), { event: 'approve' }, { state: paying }, 'each')).toContain(
      'after start → approve → pay: done → again',
    );
  });

  it('with never, fails for what happens any number of steps later', () => {
    const noPaymentAfterDenial = (after: string) =>
      finding(refund({ deny: after }), { event: 'deny' }, { state: 'paying' }, 'never');
    expect(noPaymentAfterDenial('denied')).toBe('holds: event "deny" never before state "paying"');
    expect(noPaymentAfterDenial('asking')).toBe(
      'FAILS: event "deny" never before state "paying": state "paying" happens after event "deny", in "paying", after start → deny → approve',
    );
    expect(noPaymentAfterDenial('paying')).toContain('after start → deny');
  });

  it('with never, counts a state that stays active', () => {
    const machine = refund({ hurry: 'paying' }).provide({});
    expect(finding(machine, { actor: 'pay' }, { state: (snapshot) => snapshot.matches('paying') }, 'never')).toBe(
      'FAILS: actor "pay" never before a matching state: a matching state happens after actor "pay", in "paying", after start → approve',
    );
  });

  it('with never, fails if the first one never happens', () => {
    expect(finding(refund(), { event: 'dney' }, { actor: 'pay' }, 'never')).toContain(
      'event "dney" never happens in refund, which has approve, deny',
    );
  });

  it('names what it does not prove: transitions to the later one that no outcome takes', () => {
    const machine = refund({ hurry: { guard: () => false, target: 'paying' } });
    const unproved = '; not proved for what is never taken: asking, hurry, [inline] → paying';
    const proved = (later: StepMark) => finding(machine, { event: 'approve' }, later);
    expect(proved({ actor: 'pay' })).toBe(`holds: event "approve" before actor "pay"${unproved}`);
    expect(proved({ state: 'paying' })).toBe(`holds: event "approve" before state "paying"${unproved}`);
    expect(proved({ action: 'notify' })).toBe('holds: event "approve" before action "notify"');
  });

  it.each([
    ['outcomes leave it out', {}, { approval: [done({ decision: 'approve', isEdited: false })] }],
    [
      'a guard refuses it',
      { guard: ({ event }: { event: { output: ApprovalDecision } }) => !event.output.isEdited },
      {},
    ],
    ['', {}, {}],
  ])('names the edit of an approval that no path takes: %s', (reason, guarded, outcomes) => {
    const machine = setup({ actors: { approval, pay: fromPromise(async () => {}) } }).createMachine({
      id: 'refund',
      initial: 'asking',
      states: {
        asking: { invoke: { src: 'approval', input: { question: 9 }, onDone: { ...guarded, target: 'paying' } } },
        paying: { invoke: { src: 'pay', onDone: 'paid' } },
        paid: {},
      },
    });
    const exploration = explore(machine, { outcomes: { pay: [done()], ...outcomes } });
    const { untaken } = findingsOf(exploration, [precedes({ state: 'asking' }, { actor: 'pay' })])[0] ?? {};
    expect(untaken).toEqual(reason === '' ? undefined : ['asking, approval: edited']);
  });

  it('rejects another third argument', () => {
    expect(() => precedes({ event: 'approve' }, { actor: 'pay' }, { each: true } as never)).toThrow(
      'must be one of once, each, never',
    );
  });

  it('does not count an event that was ignored', () => {
    const machine = refund({ hurry: 'paying' });
    expect(finding(machine, { event: 'again' }, { actor: 'pay' })).toContain('after start → approve');
  });

  it('fails if what must be preceded never happens, with the known names', () => {
    expect(finding(refund(), { event: 'approve' }, { actor: 'refunds' })).toBe(
      'FAILS: event "approve" before actor "refunds": actor "refunds" never happens in refund, which has pay',
    );
  });

  it('counts the exit actions of a state that is left in the same step, and of one that ends the machine', () => {
    const machine = setup({ actions: { pay: () => {}, close: () => {} } }).createMachine({
      id: 'm',
      initial: 'asking',
      states: {
        asking: { on: { go: 'paying' } },
        paying: { exit: 'pay', always: 'ended' },
        ended: { type: 'final', exit: 'close' },
      },
    });
    const exploration = explore(machine);
    const findings = (['pay', 'close'] as const).map((action) => precedes({ event: 'go' }, { action }, 'never'));
    expect(findingsOf(exploration, findings).map(({ witness }) => witness?.path?.name)).toEqual([
      'start → go',
      'start → go',
    ]);
  });

  it('says so if what must come first never happens', () => {
    expect(finding(refund(), { event: 'aprove' }, { actor: 'pay' })).toContain('event "aprove" (which never happens)');
  });
});
