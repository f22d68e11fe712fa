import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { JournalEntry } from '../../../../machines/contracts/journal.ts';
import { type ApprovalAsked, pendingApprovals } from '../../../../machines/policies/questions.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { rerecord } from '../../../../src/chain/journal/rerecord.ts';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import type { PostChainOptions } from '../../../../src/chain/runtime/options.ts';
import type { Run } from '../../../../src/chain/runtime/run.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { type Capability, defineCapability } from '../../../../src/tools/capability.ts';
import { capabilityNamed } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

const HOSTS = ['the chain', 'the loop alone'] as const;
type Host = (typeof HOSTS)[number];

interface Script {
  readonly approval?: Capability['approval'];
  readonly calls?: readonly object[];
  readonly execute?: () => unknown;
  readonly options?: PostChainOptions;
}

type Answer = Partial<Extract<ChainEvent, { type: 'approval.given' }>>;

/** Starts a run whose model calls "pay", which needs approval, with these arguments: by default once. */
function start(host: Host, script: Script = {}) {
  const { approval, calls = [{ euros: 5 }], options = {} } = { approval: 'always', ...script };
  const paid: unknown[] = [];
  const pay = capabilityNamed(
    'pay',
    (args) => {
      paid.push(args);
      return script.execute?.();
    },
    { arguments: z.object({ euros: z.number().max(100), to: z.string().default('Ada') }), approval: approval as never },
  );
  const clock = new TestClock();
  const wishes = calls.map((args) => ({ capability: 'pay', arguments: JSON.stringify(args) }));
  const model = scriptedModel(
    { action: always({ reply: { ...replies.action, calls: wishes } }) },
    { otherwise: replies },
  );
  const parts = { model, clock, capabilities: [pay], ...options };
  const request = { request: 'Pay Ada.' };
  const run = host === 'the chain' ? createPostChain(parts).run(request) : createCapabilityLoop(parts).run(request);
  const given = (changes: Answer, question = asked().at(-1)): void => {
    const { questionId = '', digest = '' } = question ?? {};
    (run.send as (event: ChainEvent) => void)({
      type: 'approval.given',
      questionId,
      digest,
      decision: 'approve',
      ...changes,
    });
  };
  const asked = (): readonly ApprovalAsked[] => entries('approval-asked');
  const entries = <T extends JournalEntry['type']>(type: T) =>
    run.entries.filter((entry): entry is Extract<JournalEntry, { type: T }> => entry.type === type);
  return {
    run,
    clock,
    model,
    paid,
    asked,
    entries,
    given,
    pending: () => pendingApprovals(run.entries).map(({ questionId }) => questionId),
    decisions: () => entries('approval-resolved').map(({ decision, by, reason }) => [decision, by, reason]),
    refusals: () => entries('answer-refused').map(({ reason }) => reason),
    ended: async () => ('answer' in run ? await run.answer : await run.outcome),
    /** The results of its calls. */
    results: () => entries('capability-end').map(({ result: { id, code, error } }) => ({ id, code, error })),
  };
}

describe.each(HOSTS)('in %s, a call that needs approval', (host) => {
  it('[Q2] has no effect before it is approved, and starts once', async () => {
    const started = start(host);
    await settle(200);
    expect(started.paid).toEqual([]);
    expect(started.asked()).toMatchObject([
      { capability: 'pay', arguments: { euros: 5 }, index: 1, problem: null, questionId: 's1.action.approval1' },
    ]);
    expect(started.pending()).toEqual(['s1.action.approval1']);
    started.given({});
    started.given({});
    started.given({ decision: 'deny' });
    await started.ended();
    expect(started.paid).toEqual([{ euros: 5, to: 'Ada' }]);
    expect(started.decisions()).toEqual([['approved', 'user', '']]);
    expect(started.refusals()).toEqual(['already_answered', 'already_answered']);
    expect(started.pending()).toEqual([]);
  });

  it('[Q2] never runs if it is denied; the model and the answer know why', async () => {
    const started = start(host);
    await settle(200);
    started.given({ decision: 'deny', reason: 'Ada was paid.\u001b[2J' });
    const ended = await started.ended();
    expect(started.paid).toEqual([]);
    expect(started.results()).toEqual([{ id: null, code: 'denied', error: 'denied by the user: Ada was paid. [2J' }]);
    expect(started.entries('capability-stop')).toMatchObject([{ runs: 0, failed: 1 }]);
    if ('reasons' in ended) {
      expect(ended.status).toBe('degraded');
      expect(ended.reasons).toMatchObject([{ code: 'capability_denied', capability: 'pay' }]);
      const prompts = started.model.calls.map(({ turns }) => turns.map(({ content }) => content).join());
      expect(prompts.some((text) => text.includes('pay did not run: denied by the user: Ada was paid.'))).toBe(true);
    }
  });

  it('[Q2] never runs if it is responded to: the response is its result, and counts as a run', async () => {
    const options: PostChainOptions = {
      continuation: () => ({ done: false, next: { capability: 'pay', arguments: { euros: 6 } } }),
      limits: { maxContinuations: 2, maxResultChars: 'Ada was paid.'.length },
    };
    const started = start(host, { options });
    await settle(200);
    const { questionId = '', digest = '' } = started.asked()[0] ?? {};
    const respond = { type: 'approval.given', questionId, digest, decision: 'respond' };
    expect(() => started.run.send(respond as never)).toThrow('output');
    started.given({ decision: 'respond', output: 'Ada was paid.' });
    started.given({});
    await settle(200);
    started.given({ decision: 'respond', output: 'Ada was paid!!' });
    const ended = await started.ended();
    expect(started.paid).toEqual([]);
    expect(started.entries('capability-start')).toEqual([]);
    expect(started.decisions().map(([decision, by]) => [decision, by])).toEqual([
      ['responded', 'user'],
      ['responded', 'user'],
    ]);
    expect(started.refusals()).toEqual(['no_question']);
    expect(started.entries('capability-end').map(({ result }) => result)).toMatchObject([
      { id: null, success: true, output: 'Ada was paid.', code: null },
      { id: null, success: false, output: '', code: 'result_too_long' },
    ]);
    expect(started.entries('capability-stop')).toMatchObject([{ reason: 'limit_reached', runs: 2, failed: 1 }]);
    if ('reasons' in ended) {
      const prompts = started.model.calls.map(({ turns }) => turns.map(({ content }) => content).join());
      expect(prompts.some((text) => text.includes('pay: Ada was paid.'))).toBe(true);
    }
  });

  it('[Q2] runs with exactly the edited arguments, once they are valid, and records both', async () => {
    const started = start(host);
    await settle(200);
    const [first] = started.asked();
    started.given({ arguments: { euros: 500 } });
    await settle(200);
    expect(started.paid).toEqual([]);
    const second = started.asked()[1];
    expect(second).toMatchObject({
      questionId: 's1.action.approval2',
      digest: first?.digest,
      arguments: { euros: 5 },
      problem: expect.stringContaining('euros'),
    });
    expect(started.pending()).toEqual(['s1.action.approval2']);
    started.given({}, first);
    expect(started.refusals()).toEqual(['other_question']);
    started.given({ arguments: { euros: 4 }, reason: 'A discount.' });
    await started.ended();
    expect(started.paid).toEqual([{ euros: 4, to: 'Ada' }]);
    expect(started.entries('approval-resolved')).toMatchObject([
      { decision: 'invalid', questionId: 's1.action.approval1' },
      { decision: 'edited', by: 'user', reason: 'A discount.', arguments: { euros: 4 }, original: { euros: 5 } },
    ]);
    expect(started.entries('approval-resolved')[1]?.digest).not.toBe(first?.digest);
  });

  it('[Q1] is not decided by an answer to another question, about other arguments, or to no question', async () => {
    const started = start(host);
    started.given({});
    await settle(200);
    started.given({ questionId: 's1.action.approval2' });
    started.given({ digest: 'other' });
    expect(started.refusals().slice(-2)).toEqual(['other_question', 'other_digest']);
    expect(started.paid).toEqual([]);
    started.given({ decision: 'deny' });
    await started.ended();
    expect(started.paid).toEqual([]);
    expect(() => started.run.send({ type: 'approval.given', decision: 'maybe' } as never)).toThrow('expected');
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`);
    const sendDeep = () => started.given({ arguments: deep });
    expect(sendDeep).toThrow(expect.objectContaining({ code: 'invalid_option' }));
    expect(sendDeep).toThrow('200 levels');
  });

  it('is asked for together with the other calls of its step, and decided one by one', async () => {
    const started = start(host, { calls: [{ euros: 1 }, { euros: 2 }, { euros: 3 }] });
    await settle(200);
    const [one, two, three] = started.asked();
    expect(started.pending()).toHaveLength(3);
    started.given({ decision: 'deny' }, two);
    started.given({}, three);
    await settle(200);
    expect(started.paid).toEqual([]);
    started.given({}, one);
    await started.ended();
    expect(started.paid).toMatchObject([{ euros: 1 }, { euros: 3 }]);
    expect(started.results().map(({ code }) => code)).toEqual(['denied', null, null]);
  });

  it('waits without a limit, or as long as approvalMs', async () => {
    const patient = start(host, { options: { limits: { phaseMs: 1_000, totalMs: 5_000 } } });
    const hasty = start(host, { options: { limits: { approvalMs: 3_000 } } });
    await settle(200);
    patient.clock.increment(10_000_000);
    hasty.clock.increment(3_000);
    await settle(200);
    expect(patient.pending()).toHaveLength(1);
    patient.given({});
    await patient.ended();
    expect(patient.paid).toHaveLength(1);
    await hasty.ended();
    expect(hasty.paid).toEqual([]);
    expect(hasty.results()).toEqual([
      { id: null, code: 'approval_timed_out', error: 'it was not approved within 3000 ms' },
    ]);
    expect(hasty.decisions()).toEqual([['timed_out', 'limit', 'it was not approved within 3000 ms']]);
  });

  it.each<[string, PostChainOptions['approve'], string, unknown[]]>([
    ['approves', () => ({ decision: 'approve' }), 'approved', [{ euros: 5, to: 'Ada' }]],
    ['edits', () => ({ decision: 'approve', arguments: { euros: 1 } }), 'edited', [{ euros: 1, to: 'Ada' }]],
    ['edits to invalid arguments', () => ({ decision: 'approve', arguments: { euros: 'x' } }), 'denied', []],
    ['denies', () => ({ decision: 'deny', reason: 'no' }), 'denied', []],
    ['responds', () => ({ decision: 'respond', output: 'paid' }), 'responded', []],
    ['responds with nothing', () => ({ decision: 'respond' }), 'denied', []],
    ['throws', () => Promise.reject(new Error('boom')), 'denied', []],
    ['returns nothing', () => undefined as never, 'denied', []],
    ['hangs', () => new Promise(() => {}), 'denied', []],
  ])(
    'is decided by a function of the program that %s',
    async (_, approve = () => ({ decision: 'deny' }), decision, paid) => {
      const started = start(host, { options: { approve } });
      await settle(200);
      started.given({ questionId: 's1.action.approval1' });
      started.clock.increment(30_000);
      await started.ended();
      expect(started.asked()).toEqual([]);
      expect(started.decisions()).toMatchObject([[decision, 'program', expect.any(String)]]);
      expect(started.paid).toEqual(paid);
    },
  );

  it('is aborted with its run, and never runs', async () => {
    const started = start(host);
    await settle(200);
    started.run.cancel();
    started.given({});
    await started.ended();
    expect(started.paid).toEqual([]);
    expect(started.results()).toMatchObject([{ code: 'aborted' }]);
    expect(started.pending()).toEqual([]);
  });
});

it.each<[string, Capability['approval'], PostChainOptions, boolean]>([
  ['it is "never"', 'never', { approval: 'always' }, false],
  ['nothing is said', undefined, {}, false],
  ['the chain says "always"', undefined, { approval: 'always' }, true],
  ['its function returns false', () => false, {}, false],
  ['its function reads the arguments', ({ euros, to }: never) => euros > 4 && to === 'Ada', {}, true],
  ['its function returns nothing', () => undefined as never, {}, true],
  ['its function throws', () => Promise.reject(new Error('boom')), {}, true],
  ['its function hangs', () => new Promise(() => {}), {}, true],
])('[Q2] whether a call needs approval if %s', async (_, approval, options, isAsked) => {
  const started = start('the loop alone', { approval, options });
  await settle(200);
  started.clock.increment(30_000);
  await settle(200);
  expect([started.asked().length, started.paid.length]).toEqual(isAsked ? [1, 0] : [0, 1]);
  started.run.cancel();
});

describe('a run with approvals', () => {
  const decided = async () => {
    const started = start('the chain', { calls: [{ euros: 1 }, { euros: 2 }, { euros: 5 }] });
    await settle(200);
    const [one, two, three] = started.asked();
    started.given({ decision: 'respond', output: 'paid by hand' }, three);
    started.given({ decision: 'deny', reason: 'no' }, one);
    started.given({ arguments: { euros: 3 } }, two);
    await started.ended();
    return started;
  };
  const isAboutApproval = ({ type }: JournalEntry): boolean => type.startsWith('approval-');

  it('[J1] is replayed without a question, and recorded again with the same answers', async () => {
    const { run } = await decided();
    const replayed = await replay(run.entries);
    expect(replayed.divergence).toBeNull();
    const again = await rerecord(run.entries);
    const decisions = (journal: readonly JournalEntry[]) => journal.filter(isAboutApproval).map(withoutPlace);
    expect(decisions(again)).toEqual(decisions(run.entries));
    expect(decisions(run.entries)).toMatchObject([{}, {}, {}, { decision: 'responded' }, {}, {}]);
  });

  it.each(['user', 'program'] as const)(
    '[Q2] has forks that ask the %s again about a call that had not ended, and repeat none that had',
    async (approver) => {
      const approve = vi.fn<NonNullable<PostChainOptions['approve']>>(({ arguments: given }) =>
        given['euros'] === 2
          ? { decision: 'approve' as const, arguments: { euros: 4 } }
          : { decision: 'approve' as const },
      );
      const options = approver === 'program' ? { approve } : {};
      const paid: unknown[] = [];
      const pay = defineCapability({
        name: 'pay',
        description: 'Pays.',
        arguments: z.object({ euros: z.number() }),
        approval: 'always',
        execute: ({ euros }, { idempotencyKey }) => {
          paid.push([euros, idempotencyKey]);
          return euros === 4 && paid.length === 2 ? new Promise<never>(() => {}) : 'paid';
        },
      });
      const calls = [1, 2].map((euros) => ({ capability: 'pay', arguments: JSON.stringify({ euros }) }));
      const model = scriptedModel({ action: always({ reply: { ...replies.action, calls } }) }, { otherwise: replies });
      const chain = createPostChain({ model, clock: new TestClock(), capabilities: [pay], ...options });
      const run = chain.run({ request: 'Pay.' });
      const answer = (to: typeof run): void => {
        for (const { questionId, digest, arguments: given } of pendingApprovals(to.entries)) {
          const edited = given['euros'] === 2 && { arguments: { euros: 4 } };
          to.send({ type: 'approval.given', questionId, digest, decision: 'approve', ...edited });
        }
      };
      await settle(200);
      answer(run);
      await settle(200);
      expect(paid).toHaveLength(2);
      const [first] = paid;
      const recorded = [...run.entries];
      const fork = await chain.fork(recorded, { at: recorded.length - 1 });
      await settle(200);
      if (approver === 'user') {
        expect(paid).toHaveLength(2);
        expect(pendingApprovals(fork.entries).map(({ arguments: given }) => given)).toEqual([
          { euros: 1 },
          { euros: 2 },
        ]);
        answer(fork);
      } else expect(approve).toHaveBeenCalledTimes(4);
      await fork.answer;
      // The result of the call that had ended is that of the original.
      expect(paid).toEqual([first, expect.anything(), [4, `${fork.id}.s1.action.2`]]);
    },
  );

  it('[Q1] is not decided by an answer to another run, also of the same id, or to the run that it was forked from', async () => {
    const clock = new TestClock();
    const { chain, paid, run } = payOnce({ clock });
    await settle(200);
    const recorded = [...run.entries];
    const { id: runId } = run;
    const forkOnce = () => {
      const ids = ['fork', 'another'];
      return payOnce({ clock, newId: () => ids.pop() ?? '' }).chain.fork(recorded, { at: recorded.length - 1 });
    };
    const forks = [await forkOnce()];
    clock.increment(1);
    forks.push(await forkOnce());
    const other = chain.run({ request: 'Pay.' });
    const later = payOnce({ clock, newId: () => runId }).run;
    const fork = await chain.fork(recorded, { at: recorded.length - 1 });
    await settle(200);
    const [answer, ...theirs] = [run, other, fork].map(answerTo);
    for (const to of [other, later, fork]) to.send(answer as ChainEvent);
    forks[1]?.send(answerTo(forks[0] as Run) as ChainEvent);
    await settle(200);
    expect(paid).toEqual([]);
    for (const { entries: journal } of [other, later, fork, forks[1] as Run])
      expect(journal).toContainEqual(expect.objectContaining({ type: 'answer-refused', reason: 'other_digest' }));
    other.send(theirs[0] as ChainEvent);
    fork.send(theirs[1] as ChainEvent);
    await Promise.all([other.answer, fork.answer]);
    expect(paid).toHaveLength(2);
    expect(pendingApprovals(run.entries)).toHaveLength(1);
    for (const waiting of [run, later, ...forks]) waiting.cancel();
    await Promise.all([run, later, ...forks].map((waiting) => waiting.answer));
  });

  const edited = { decision: 'approve', arguments: { euros: 4 } } as const;
  const responded = { decision: 'respond', output: 'paid by hand' } as const;
  it.each([
    ['user', 'edited', edited, [{ euros: 4 }]],
    ['program', 'edited', edited, [{ euros: 4 }]],
    ['user', 'responded', responded, []],
    ['program', 'responded', responded, []],
  ] as const)('[Q2] has forks that keep what the %s had %s', async (approver, decision, answer, expected) => {
    const { chain, paid, run } = payOnce(approver === 'program' ? { approve: () => answer } : {});
    await settle(200);
    if (approver === 'user') run.send({ ...answerTo(run), ...answer });
    await run.answer;
    const fork = await chain.fork(run.entries, { at: run.entries.length - 1 });
    expect((await fork.answer).status).toBe('completed');
    const second = await chain.fork(fork.entries, { at: fork.entries.length - 1 });
    expect((await second.answer).status).toBe('completed');
    expect(paid).toEqual(expected);
    for (const { entries: journal } of [fork, second]) {
      expect(journal).toContainEqual(expect.objectContaining({ type: 'approval-resolved', decision }));
      expect(replay(journal).divergence).toBeNull();
    }
  });

  it('is bounded: a decider that requests denied calls forever reaches the limit', async () => {
    const started = start('the loop alone', {
      options: {
        approve: () => ({ decision: 'deny' }),
        continuation: () => ({ done: false, next: { capability: 'pay', arguments: { euros: 1 } } }),
        limits: { maxContinuations: 3 },
      },
    });
    const outcome = await started.ended();
    expect(outcome).toMatchObject({ stopReason: 'limit_reached', results: { length: 3 } });
  });

  it('stops no deadline while a function of the program decides', async () => {
    const options: PostChainOptions = { approve: () => new Promise(() => {}), limits: { phaseMs: 1_000 } };
    const started = start('the chain', { options });
    await settle(200);
    started.given({ questionId: 's1.action.approval1' });
    expect(started.entries('answer-refused')).toMatchObject([{ question: null, reason: 'no_question' }]);
    started.clock.increment(1_000);
    await settle(200);
    expect(started.entries('recovery')).toMatchObject([{ failure: { code: 'phase_deadline' } }]);
  });

  it('has its deadline again, in full, when the wait is over', async () => {
    // The answer has 2 s of the 8.
    const limits = { totalMs: 8_000, phaseMs: 1_000_000, capabilityMs: 500_000 };
    const started = start('the chain', { options: { limits }, execute: () => new Promise(() => {}) });
    await settle(200);
    started.clock.increment(5_000);
    await settle(200);
    started.clock.increment(1_000_000);
    started.given({});
    await settle(200);
    started.clock.increment(5_999);
    await settle(200);
    expect(started.entries('answer')).toEqual([]);
    started.clock.increment(1);
    await started.ended();
    expect(started.entries('answer')[0]?.answer.reasons.map(({ code }) => code)).toContain('deadline_passed');
    expect(started.clock.openTimers).toBe(0);
  });
});

/** A run that pays once, after an approval. */
function payOnce(options: PostChainOptions = {}) {
  const paid: unknown[] = [];
  const pay = capabilityNamed('pay', (args) => void paid.push(args), {
    arguments: z.object({ euros: z.number() }),
    approval: 'always',
  });
  const calls = [{ capability: 'pay', arguments: '{"euros":5}' }];
  const model = scriptedModel({ action: always({ reply: { ...replies.action, calls } }) }, { otherwise: replies });
  const chain = createPostChain({ model, clock: new TestClock(), capabilities: [pay], ...options });
  return { chain, paid, run: chain.run({ request: 'Pay.' }) };
}

function answerTo({ entries }: Pick<Run, 'entries'>) {
  const { questionId = '', digest = '' } = pendingApprovals(entries)[0] ?? {};
  return { type: 'approval.given', questionId, digest, decision: 'approve' } as const;
}

const withoutPlace = ({ seq: _, atMs: __, ...entry }: JournalEntry) => entry;
