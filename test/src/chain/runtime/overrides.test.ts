import { describe, expect, it } from 'vitest';
import type { ChainEvent } from '../../../../machines/contracts/events.ts';
import type { Message } from '../../../../machines/contracts/message.ts';
import { overrule as overruleMessage } from '../../../../machines/policies/consent.ts';
import { contextOf, KEPT_BY_USER } from '../../../../machines/policies/context.ts';
import { visibleMessages } from '../../../../machines/policies/progress.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import { replay } from '../../../../src/chain/journal/replay.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aMessage, aState } from '../../../support/contract-samples.ts';
import {
  entriesOf,
  listOperations,
  type Plan,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';
import { startInSession, stubSessions } from '../../../support/sessions.ts';

type Started = ReturnType<typeof startScripted>;

const LONG = `Please look into the cellar. ${'It is a long story. '.repeat(80)}`;
const OFF_TOPIC = 'Bananas are yellow when they are ripe, and green before.';

/** Messages that Understanding prunes or asks about. The newest assistant message is always kept. */
const messages: readonly Message[] = [
  aMessage({ id: 'user', role: 'user', phase: null, content: LONG, tags: [] }),
  aMessage({ id: 'assistant', content: OFF_TOPIC, tags: [], importance: 0 }),
  aMessage({ id: 'search', role: 'search', phase: 'experience', content: OFF_TOPIC, tags: [], importance: 0 }),
  aMessage({ id: 'twin', role: 'search', phase: 'experience', content: OFF_TOPIC, tags: [], importance: 0 }),
  aMessage({ id: 'pinned', role: 'search', phase: 'experience', content: 'Pinned.', tags: ['pinned'] }),
  aMessage({ id: 'newest', content: 'So it was.' }),
];
const IDS = { user: 'earlier.user', assistant: 'earlier.assistant', search: 'earlier.twin' } as const;

/** The model rates everything as irrelevant to the request. */
const irrelevant = {
  ...replies.understanding,
  assessments: Object.values(IDS).map((messageId) => ({ messageId, relevance: 0, reason: 'off topic' })),
};

const start = (plan: Plan = {}, options: Parameters<typeof startScripted>[1] = {}) =>
  startScripted({ understanding: irrelevant, ...plan }, options, { messages });

const send = ({ run }: Started, ...events: Parameters<typeof sendAnswer>[1][]): void => {
  for (const event of events) sendAnswer(run, event);
};
const overrule = (messageId: string, choice: string): ChainEvent => ({ type: 'context.overruled', messageId, choice });
const messageOf = ({ run }: Started, id: string): Message | undefined =>
  visibleMessages(run.ref.getSnapshot().context).find((message) => message.id === id);
const overruled = ({ run }: Started) => entriesOf(run, 'context-overruled');
const contentOf = (id: string): string => messages.find((message) => `earlier.${message.id}` === id)?.content ?? '';

/** Lets a run that hangs in Yield end, and checks that its journal gives the same context. */
async function finish(started: Started): Promise<void> {
  send(started, { type: 'run.finished' });
  await started.run.answer;
  expect(contextOf(contextHistory(started.run.entries))).toEqual(started.run.ref.getSnapshot().context.messages);
}

describe('[U9] overruling a recommendation', () => {
  it.each(Object.entries(IDS))('before it is planned keeps a message of role %s', async (_, id) => {
    const started = start({ action: { hang: true }, yield: { hang: true } }, { limits: { phaseMs: 1_000 } });
    await settle();
    send(started, overrule(id, 'keep'));
    started.clock.increment(1_000);
    await settle();
    send(started, { type: 'run.directed', phase: 'understanding' });
    await settle(200);
    send(started, { type: 'consent.given', choice: 'remove' });
    await settle();
    expect(messageOf(started, id)).toMatchObject({ content: contentOf(id), tags: [KEPT_BY_USER] });
    await finish(started);
  });

  it.each(Object.entries(IDS))('while consent is awaited keeps a message of role %s', async (_, id) => {
    const started = start({ yield: { hang: true } });
    await settle(200);
    expect(entriesOf(started.run, 'consent-asked')).toHaveLength(1);
    send(started, overrule(id, 'keep'));
    if (id !== IDS.user) send(started, { type: 'consent.given', choice: 'remove' });
    await settle();
    expect(messageOf(started, id)).toMatchObject({ content: contentOf(id), tags: [KEPT_BY_USER] });
    expect(overruled(started)).toMatchObject([{ messageId: id, choice: 'keep', undone: [], problem: null }]);
    await finish(started);
  });

  it.each(Object.entries(IDS))(
    'after it was applied restores a message of role %s at its place, and later evaluations keep it',
    async (_, id) => {
      const plan = (call: number) => (call === 2 ? { hang: true as const } : unsureAnswer(call));
      const started = start({ yield: plan });
      await settle(200);
      send(started, { type: 'consent.given', choice: 'remove' });
      await settle(400);
      expect(started.run.ref.getSnapshot().context.messages.map((message) => message.id)).not.toContain(id);
      const [removal] = entriesOf(started.run, 'operations').flatMap(({ applied }) =>
        applied.filter(({ operation, target }) => operation === 'PRUNE' && target === id),
      );
      send(started, overrule(id, 'keep'));
      expect(messageOf(started, id)).toMatchObject({ content: contentOf(id), tags: [KEPT_BY_USER] });
      expect(overruled(started)).toMatchObject([{ messageId: id, undone: [removal?.id], problem: null }]);
      const order = started.run.ref.getSnapshot().context.messages.map((message) => message.id);
      const initial = messages.map((message) => `earlier.${message.id}`);
      expect(order.filter((one) => initial.includes(one))).toEqual(initial.filter((one) => order.includes(one)));
      send(started, { type: 'run.directed', phase: 'understanding' });
      await settle(200);
      expect(messageOf(started, id)?.content).toBe(contentOf(id));
      await finish(started);
      expect(listOperations(started.run.entries).find(({ operation }) => operation.id === removal?.id)?.undoneAt).toBe(
        overruled(started)[0]?.seq,
      );
    },
  );

  it('removes or summarizes any message on request, whatever was planned', async () => {
    const started = start({ yield: { hang: true } });
    await settle(200);
    send(started, overrule(IDS.user, 'summarize'), overrule('earlier.newest', 'remove'));
    await settle();
    expect(messageOf(started, IDS.user)?.content.length).toBeLessThanOrEqual(200);
    expect(messageOf(started, 'earlier.newest')).toBeUndefined();
    send(started, overrule(IDS.user, 'remove'));
    expect(messageOf(started, IDS.user)).toBeUndefined();
    send(started, overrule(IDS.user, 'whatever'));
    expect(messageOf(started, IDS.user)?.content).toBe(LONG);
    await finish(started);
  });

  it('of every message that the question is about settles the question', async () => {
    const started = start({ yield: { hang: true } });
    await settle(200);
    send(started, overrule(IDS.user, 'keep'));
    await settle();
    expect(started.run.ref.getSnapshot().matches({ cycling: { yield: 'assessing' } })).toBe(true);
    expect(entriesOf(started.run, 'consent-resolved')).toMatchObject([{ removed: 0, summarized: 0, by: 'user' }]);
    await finish(started);
  });

  it.each([
    ['earlier.nobody', 'keep', 'the context has no message with this id'],
    ['__proto__', 'remove', 'the context has no message with this id'],
    ['request', 'remove', 'the message must stay as it is, because it is tagged "request"'],
    ['earlier.pinned', 'remove', 'the message must stay as it is, because it is tagged "pinned"'],
    ['earlier.pinned', 'summarize', 'the message must stay as it is, because it is tagged "pinned"'],
    ['earlier.newest', 'summarize', 'the message has at most 100 characters'],
  ])('of %s to "%s" is refused with the reason', async (id, choice, problem) => {
    const started = start({ action: { hang: true } });
    await settle();
    const before = started.run.ref.getSnapshot().context;
    send(started, overrule(id, choice));
    expect(overruled(started)).toMatchObject([{ messageId: id, choice, undone: [], problem }]);
    expect(started.run.ref.getSnapshot().context).toEqual(before);
  });
});

describe('[U12] the history of a run that ends before the next phase', () => {
  it.each(['run.finished', 'run.cancelled'] as const)('has what the user decided last, after %s', async (type) => {
    const started = start({ yield: { hang: true } }, { consent: 'keep' });
    await settle(200);
    send(started, overrule('earlier.newest', 'remove'), overrule(IDS.user, 'keep'), { type } as ChainEvent);
    await started.run.answer;
    const left = contextOf(contextHistory(started.run.entries));
    expect(left.map(({ id }) => id)).not.toContain('earlier.newest');
    expect(left.find(({ id }) => id === IDS.user)?.tags).toContain(KEPT_BY_USER);
    expect(left).toEqual(started.run.ref.getSnapshot().context.messages);
    expect(replay(JSON.parse(JSON.stringify(started.run.entries))).divergence).toBeNull();
  });
});

describe('[U15] a decision while the session is stored', () => {
  it.each([overrule('s1.m1', 'remove'), { type: 'context.undone', operationId: 's5.o1' } as const])(
    'changes nothing and says why, because the stored turn would lack it: %j',
    async (event) => {
      let release = (): void => {};
      const stored = new Promise<void>((resolve) => {
        release = resolve;
      });
      const sessions = stubSessions({ append: () => stored });
      const { run } = startInSession(sessions, {}, { consent: 'keep' });
      await settle(200);
      expect(run.ref.getSnapshot().value).toBe('remembering');
      const { messages } = run.ref.getSnapshot().context;
      run.send(event);
      release();
      await run.answer;
      expect(entriesOf(run, 'context-overruled')[0]?.problem).toMatch(/^the run already has its answer/);
      expect(run.ref.getSnapshot().context.messages).toBe(messages);
    },
  );
});

describe('[U9] many decisions at once', () => {
  it('read each message of the context a fixed number of times, and are rejected beyond 1,000', () => {
    let readings = 0;
    const many = Array.from({ length: 1_100 }, (_, at) =>
      Object.defineProperty(aMessage({ content: LONG }), 'id', {
        enumerable: true,
        get: () => {
          readings += 1;
          return `m${at}`;
        },
      }),
    );
    let state = aState({ messages: many });
    const problems = many.map((_, at) => {
      const { changes, problem } = overruleMessage(state, { messageId: `m${at}`, choice: 'remove' });
      state = { ...state, ...changes };
      return problem;
    });
    expect(problems.slice(0, 1_000).filter((problem) => problem !== null)).toEqual([]);
    expect(problems.slice(1_000)).toEqual(Array(100).fill(expect.stringMatching(/1000 decisions already wait/)));
    expect(readings).toBeLessThan(20 * many.length);
    expect(visibleMessages(state)).toHaveLength(100);
  });
});

describe('[U12] undoing an operation of a live run', () => {
  it('restores the exact message; the other operations keep their effect', async () => {
    const started = start({ yield: (call: number) => (call === 2 ? { hang: true as const } : unsureAnswer(call)) });
    await settle(200);
    send(started, { type: 'consent.given', choice: 'remove' });
    await settle(400);
    const operations = entriesOf(started.run, 'operations').flatMap(({ applied }) => applied);
    const removal = operations.find(({ operation, target }) => operation === 'PRUNE' && target === IDS.assistant);
    send(started, { type: 'context.undone', operationId: removal?.id ?? '' });
    expect(overruled(started)).toMatchObject([
      { messageId: IDS.assistant, choice: null, undone: [removal?.id], problem: null },
    ]);
    expect(messageOf(started, IDS.assistant)).toMatchObject({ content: OFF_TOPIC, tags: [], importance: 0 });
    expect(messageOf(started, IDS.user)).toBeUndefined();
    await finish(started);
  });

  it('drops an operation that is only planned', async () => {
    const started = start({ yield: { hang: true } });
    await settle(200);
    const [item] = entriesOf(started.run, 'consent-asked')[0]?.request.items ?? [];
    send(started, { type: 'context.undone', operationId: item?.operationId ?? '' });
    await settle();
    expect(messageOf(started, IDS.user)?.content).toBe(LONG);
    await finish(started);
  });

  it('is refused for an unknown operation, and for one that is already undone', async () => {
    const started = start({ yield: { hang: true } });
    await settle(200);
    const undo = { type: 'context.undone', operationId: 's1.o1' } as const;
    send(started, { type: 'context.undone', operationId: 'nothing' }, undo, undo);
    expect(overruled(started).map(({ problem }) => problem)).toEqual([
      'no operation "nothing" can be undone',
      null,
      'no operation "s1.o1" can be undone',
    ]);
  });
});

describe('[U9] with consent for all operations', () => {
  it('the request lists every message that would be shortened or removed, and nothing happens before the reply', async () => {
    const started = start({ yield: { hang: true } }, { consentFor: 'all' });
    await settle(200);
    const items = entriesOf(started.run, 'consent-asked')[0]?.request.items ?? [];
    expect(items.map(({ messageId, role }) => [messageId, role])).toEqual(
      expect.arrayContaining([
        [IDS.user, 'user'],
        [IDS.assistant, 'assistant'],
        [IDS.search, 'search'],
      ]),
    );
    for (const { reason } of items) expect(reason).not.toBe('');
    for (const id of Object.values(IDS)) expect(messageOf(started, id)?.content).toBe(contentOf(id));
    send(started, { type: 'consent.given', choice: 'remove', items: { [IDS.assistant]: 'keep' } });
    await settle();
    expect(messageOf(started, IDS.assistant)?.content).toBe(OFF_TOPIC);
    expect(messageOf(started, IDS.search)).toBeUndefined();
    await finish(started);
  });

  it('nothing is removed if no one answers in time', async () => {
    const started = start({ yield: { hang: true } }, { consentFor: 'all', limits: { consentMs: 5_000 } });
    await settle(200);
    started.clock.increment(5_000);
    await settle();
    for (const id of Object.values(IDS)) expect(messageOf(started, id)?.content).toBe(contentOf(id));
    await finish(started);
  });

  it('[U10] the statistics report what exceeds the limit because nobody approved its removal', async () => {
    const history = Array.from({ length: 12 }, (_, at) => ({ role: 'assistant' as const, content: `Answer ${at}.` }));
    const { run } = startScripted(
      {},
      { consentFor: 'all', consent: 'keep', limits: { maxMessages: 4 } },
      { history, startAt: 'understanding' },
    );
    const { metadata } = await run.answer;
    const [evaluated] = entriesOf(run, 'context-evaluated');
    expect(evaluated?.statistics).toMatchObject({ messagesAfter: 13, messagesOver: 7 });
    expect(metadata.degraded).toBe(false);
  });
});
