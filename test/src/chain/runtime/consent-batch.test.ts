import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import type { Task } from '../../../../machines/contracts/phase.ts';
import { KEPT_BY_DEFAULT } from '../../../../machines/policies/context.ts';
import { contextHistory } from '../../../../src/chain/journal/context-history.ts';
import {
  eager,
  entriesOf,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
  worthASummary,
} from '../../../support/run-chain.ts';

type Started = ReturnType<typeof startScripted>;

const told = ['cellar', 'attic', 'garden'].map(
  (place) => `Please look into the ${place}. ${`The ${place} is a long story. `.repeat(60)}`,
);
const history = [
  ...told.map((content) => ({ role: 'user' as const, content })),
  { role: 'assistant' as const, content: 'I will look.' },
];
const [H1 = '', H2 = '', H3 = ''] = told.map((_, at) => `earlier.h${at + 1}`);
const asked = ({ run }: Started) => entriesOf(run, 'consent-asked').map(({ request }) => request);
const resolved = ({ run }: Started) =>
  entriesOf(run, 'consent-resolved').map(({ kept, summarized, removed, by }) => ({ kept, summarized, removed, by }));
const operationsOn = ({ run }: Started, id: string) =>
  entriesOf(run, 'operations').flatMap(({ applied }) => applied.filter(({ target }) => target === id));
const messagesOf = ({ run }: Started): readonly Message[] => run.actor.getSnapshot().context.messages;
const contentOf = (started: Started, id: string) => messagesOf(started).find((message) => message.id === id)?.content;

describe('a consent request for the whole batch', () => {
  it('[U4] [U8] has one item per message with its beginning, length, and proposed summary', async () => {
    const started = startScripted({}, {}, { history });
    await settle();
    expect(asked(started)).toHaveLength(1);
    const items = asked(started)[0]?.items ?? [];
    expect(items.map(({ messageId }) => messageId)).toEqual([H1, H2, H3]);
    for (const [at, { preview, chars, summary }] of items.entries()) {
      expect(preview).toBe(`${told[at]?.slice(0, 50)}…`);
      expect(chars).toBe(told[at]?.length);
      expect(summary.length).toBeGreaterThan(0);
      expect(summary.length).toBeLessThanOrEqual(200);
    }
    started.run.cancel();
    await started.run.answer;
  });

  it.each([
    ['keep', { [H1]: 'remove', [H2]: 'summarize' }, ['PRUNE', 'TRANSFORM', 'TAG']],
    ['remove', { [H3]: 'keep' }, ['PRUNE', 'PRUNE', 'TAG']],
    ['summarize', { [H2]: 'keep' }, ['TRANSFORM', 'TAG', 'TRANSFORM']],
    ['nothing known', { [H1]: 'remove' }, ['PRUNE', 'TAG', 'TAG']],
  ] as const)(
    '[U8] [U9] applies "%s" to all but %j, and reports the count of each choice',
    async (choice, items, wanted) => {
      const started = startScripted({}, {}, { history });
      await settle();
      sendAnswer(started.run, { type: 'consent.given', choice, items });
      await started.run.answer;
      for (const [at, id] of [H1, H2, H3].entries()) {
        expect(operationsOn(started, id)).toMatchObject([
          { operation: wanted[at], metadata: { requiresConsent: false } },
        ]);
        const left = contentOf(started, id);
        if (wanted[at] === 'PRUNE') expect(left).toBeUndefined();
        if (wanted[at] === 'TAG') expect(left).toBe(told[at]);
        if (wanted[at] === 'TRANSFORM') expect(left?.length).toBeLessThanOrEqual(200);
      }
      const count = (operation: string) => wanted.filter((one) => one === operation).length;
      expect(resolved(started)).toEqual([
        { kept: count('TAG'), summarized: count('TRANSFORM'), removed: count('PRUNE'), by: 'user' },
      ]);
    },
  );

  it('[U9] accepts choices for other existing messages and ignores unknown ids', async () => {
    for (const [choice, wanted] of [
      ['keep', 'TAG'],
      ['remove', 'PRUNE'],
      ['summarize', 'TRANSFORM'],
    ] as const) {
      const messages = [
        ...worthASummary,
        { ...(worthASummary[0] as Message), id: 'l', role: 'user' as const, content: told[0] ?? '', tags: [] },
      ];
      const started = startScripted({}, { thresholds: eager }, { messages });
      await settle();
      expect(asked(started)[0]?.items.map(({ messageId }) => messageId)).toEqual(['earlier.l']);
      const items = { 'earlier.long': choice, 'earlier.nobody': 'remove', request: 'remove' } as const;
      sendAnswer(started.run, { type: 'consent.given', choice: 'keep', items });
      await started.run.answer;
      expect(operationsOn(started, 'earlier.long')).toMatchObject([
        { operation: wanted, metadata: { consent: choice } },
      ]);
      expect(operationsOn(started, 'earlier.nobody')).toEqual([]);
      expect(contentOf(started, 'request')).toBe('Is it so?');
    }
  });
});

describe('before the user has answered', () => {
  it('[U8] no operation changes user content, and every phase and the summarizer see it in full', async () => {
    const started = startScripted({ yield: { hang: true } }, {}, { history });
    await settle();
    const untilAsked = [...started.model.calls];
    expect(untilAsked.map(({ task }) => task)).toEqual([
      'action',
      'experience',
      'intention',
      'observation',
      'understanding',
      'summary',
    ]);
    for (const { task, input } of untilAsked) {
      const texts =
        (task as Task) === 'summary'
          ? (input as { texts: { content: string }[] }).texts
          : (input as { messages: Message[] }).messages;
      for (const content of told) expect(texts.map((text) => text.content)).toContain(content);
    }
    const { messages, envelope } = started.run.actor.getSnapshot().context;
    expect(messages.map(({ content }) => content)).toEqual(expect.arrayContaining(told));
    const touching = [
      ...envelope.operations,
      ...entriesOf(started.run, 'operations').flatMap(({ applied }) => applied),
    ].filter(({ target, operation }) => [H1, H2, H3].includes(target) && operation !== 'ADD');
    expect(touching).toEqual([]);
    started.run.cancel();
    await started.run.answer;
    for (const [at, id] of [H1, H2, H3].entries()) expect(contentOf(started, id)).toBe(told[at]);
  });
});

describe('after the consent timeout', () => {
  const unsure = { yield: (call: number) => unsureAnswer(call) };
  const start = () => startScripted(unsure, { limits: { maxCycles: 3, consentMs: 5_000 } }, { history });

  it('[U8] every message is kept, marked as kept, and not asked about again', async () => {
    const started = start();
    await settle();
    started.clock.increment(5_000);
    await started.run.answer;
    expect(resolved(started)).toEqual([{ kept: 3, summarized: 0, removed: 0, by: 'time-out' }]);
    expect(asked(started)).toHaveLength(1);
    for (const [at, id] of [H1, H2, H3].entries()) {
      expect(contentOf(started, id)).toBe(told[at]);
      expect(messagesOf(started).find((message) => message.id === id)?.tags).toContain(KEPT_BY_DEFAULT);
    }
  });

  it('[U8] an injected clock determines the timeout, and a reply just before it still counts', async () => {
    const started = start();
    await settle();
    started.clock.increment(4_999);
    sendAnswer(started.run, { type: 'consent.given', choice: 'remove' });
    await started.run.answer;
    expect(resolved(started)).toEqual([{ kept: 0, summarized: 0, removed: 3, by: 'user' }]);
    expect(
      contextHistory(started.run.journal).operations.filter(({ metadata }) => metadata['consent'] === 'remove'),
    ).toHaveLength(3);
  });
});
