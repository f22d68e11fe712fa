import { describe, expect, it } from 'vitest';
import type { Message } from '../../../../machines/contracts/message.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { aMessage, aPassage, sourceOf } from '../../../support/contract-samples.ts';
import { searchMessage, userMessage, userTexts } from '../../../support/retention.ts';
import { sendAnswer, settle, startScripted, unsureAnswer } from '../../../support/run-chain.ts';

const unsure = { yield: (call: number) => unsureAnswer(call) };
const LONG = 'It is a long story. '.repeat(80);
const roomy = (plan: object = {}) =>
  scriptedModel(({ task }) => ({ ...replies, ...plan })[task as 'yield'], {
    contextWindowTokens: 1e9,
    chunkChars: 1e6,
  });

describe('a chain that validates its input', () => {
  it.each([
    [
      'a duplicate id',
      [userMessage('x', 'One.'), searchMessage('x', 'Two.')],
      /messages: expected unique ids; received "x" twice/,
    ],
    ['an unknown role', [{ ...aMessage(), role: 'system' }], /role: .*received "system"/],
    ['a non-numeric importance', [aMessage({ importance: Number.NaN })], /importance/],
    ['an importance above 1', [aMessage({ importance: 2 })], /importance/],
    ['no id', [aMessage({ id: '' })], /id/],
    ['a non-numeric time', [aMessage({ createdAtMs: Number.POSITIVE_INFINITY })], /createdAtMs/],
  ])('[C2] rejects %s before the start', (_, messages, says) => {
    const chain = createPostChain({ model: roomy() });
    expect(() => chain.run({ request: 'Why?', messages: messages as Message[] })).toThrow(says);
  });

  it('[C2] [U12] handles ids equal to built-in object properties like any other', async () => {
    const ids = ['__proto__', 'constructor', 'toString'];
    const messages = ids.map((id) => userMessage(id, `My ${id}. ${LONG}`));
    const { run } = startScripted({}, {}, { messages });
    await settle();
    sendAnswer(run, { type: 'consent.given', choice: 'remove', items: JSON.parse('{"earlier.__proto__":"keep"}') });
    await run.answer;
    const left = run.ref.getSnapshot().context.messages;
    expect(userTexts(left)).toEqual([messages[0]?.content, 'Is it so?']);
  });
});

describe('passages whose ids are taken', () => {
  const source = (...ids: readonly string[]) =>
    sourceOf(...ids.map((id) => aPassage({ id, text: `Injected as ${id}.` })));
  const contents = (run: ReturnType<typeof startScripted>['run']) =>
    run.ref.getSnapshot().context.messages.map(({ content }) => content);

  it('[U4] [C5] replace neither the request nor an earlier user turn', async () => {
    const history = [{ role: 'user' as const, content: 'Be exact.' }];
    const documents = source('request', 'earlier.h1', '__proto__', 'p', 'p');
    const { run } = startScripted({}, { documents }, { history });
    await run.answer;
    expect(userTexts(run.ref.getSnapshot().context.messages)).toEqual(['Be exact.', 'Is it so?']);
    expect(contents(run).filter((content) => content.includes('Injected as p.'))).toHaveLength(1);
  });
});

// Guards against linking the remaining passage to the same duplicate again, which would grow the state with each cycle.
it('[U6] are not added again when the same passages are found repeatedly', async () => {
  const passages = ['a', 'b'].map((id) =>
    aPassage({ id, text: 'The tide in the harbour is lowest on the second Monday of March.' }),
  );
  const { run } = startScripted(
    {
      experience: { ...replies.experience, relevantPassageIds: ['a'] },
      yield: (call: number) => unsureAnswer(call, { informationSufficiency: 0.1 }),
    },
    { documents: sourceOf(...passages), limits: { maxCycles: 30, maxModelCalls: 1e6 } },
  );
  await run.answer;
  const { messages } = run.ref.getSnapshot().context;
  expect(messages.find(({ id }) => id === 'a')?.links.length).toBeLessThan(5);
});

describe('a run with minimal limits', () => {
  const history = [
    { role: 'user' as const, content: 'Be exact.' },
    ...Array.from({ length: 12 }, (_, at) => ({ role: 'assistant' as const, content: `Note ${at}. ${LONG}` })),
  ];

  it.each([
    [
      'thresholds at 0',
      { confidence: 0, change: 0, sufficiency: 0, link: 0, persist: 0, prune: 0, summarize: 0, grounding: 0 },
    ],
    [
      'thresholds at 1',
      { confidence: 1, change: 1, sufficiency: 1, link: 1, persist: 1, prune: 1, summarize: 1, grounding: 1 },
    ],
    ['an empty context limit', { windowShare: 0 }],
    ['summaries of one character', { userSummaryChars: 1, assistantSummaryChars: 1, summarize: 1 }],
  ])('[U4] [U10] [E3] for %s ends with an answer and keeps user content', async (_, thresholds) => {
    const { run, clock } = startScripted(unsure, { thresholds, limits: { maxCycles: 3, consentMs: 1 } }, { history });
    for (let waits = 0; waits < 3; waits += 1) {
      await settle();
      clock.increment(1);
    }
    expect((await run.answer).answerText).not.toBe('');
    expect(run.ref.getSnapshot().status).toBe('done');
    expect(userTexts(run.ref.getSnapshot().context.messages)).toEqual(['Be exact.', 'Is it so?']);
  });
});
