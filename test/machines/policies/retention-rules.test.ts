import { describe, expect, it } from 'vitest';
import { contextOperationSchema } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { applyOperations, KEPT_BY_USER } from '../../../machines/policies/context.ts';
import { aMessage, someThresholds } from '../../support/contract-samples.ts';
import { type EvaluatedInputs, retentionPlan } from '../../support/retention.ts';

const LONG = 'Some words about other things. '.repeat(8);
/** So old, unimportant, and off-topic that the computed relevance is 0, and only the rating of the model remains. */
const stale = (changes: Partial<Message> = {}) =>
  aMessage({ id: 'old', content: LONG, cycle: 0, importance: 0, ...changes });
const newest = aMessage({ id: 'new', content: 'short', cycle: 9_999, role: 'assistant' });
const rated = (relevance: number) => [{ messageId: 'old', relevance, reason: 'said so' }];
/** The rules of 001’s example: relevance alone prunes and summarizes, whatever the space. */
const eager = { thresholds: someThresholds({ pruneAbove: 0 }) };

const planned = (messages: readonly Message[], changes: Partial<EvaluatedInputs> = {}) =>
  retentionPlan([...messages, newest], { cycle: 10_000, ...changes }).operations;
const kinds = (messages: readonly Message[], changes: Partial<EvaluatedInputs> = {}) =>
  planned(messages, changes).map(({ operation, target }) => `${operation} ${target}`);

/** Keeps only operations that remove content. */
const losses = (...given: Parameters<typeof kinds>) =>
  kinds(...given).filter((kind) => /^(PRUNE|TRANSFORM)/.test(kind));

describe('retention rules', () => {
  it.each([
    [0.0, ['PRUNE old']],
    [0.29, ['PRUNE old']],
    [0.3, ['TRANSFORM old']],
    [0.69, ['TRANSFORM old']],
    [0.7, []],
  ])(
    '[U3] [U5] at a relevance of %d, an assistant message is pruned below 0.3 and summarized below 0.7',
    (relevance, wanted) => {
      expect(losses([stale()], { assessments: rated(relevance), ...eager })).toEqual(wanted);
      const turns = [stale({ phase: null }), aMessage({ id: 'turn', content: 'So.', role: 'assistant', phase: null })];
      expect(losses(turns, { assessments: rated(relevance), ...eager })).toEqual(wanted);
    },
  );

  it('[U5] a summary has at most 100 characters, and a message that short is kept', () => {
    const [operation] = planned([stale()], { assessments: rated(0.4), ...eager });
    if (operation?.operation !== 'TRANSFORM') throw new Error('expected a summary');
    expect(operation.data.content.length).toBeLessThanOrEqual(100);
    expect(operation.data).toMatchObject({ transformation: 'summarize', maxChars: 100 });
    const ofLength = (length: number) =>
      losses([stale({ content: 'x'.repeat(length) })], { assessments: rated(0.4), ...eager });
    expect([100, 101].map(ofLength)).toEqual([[], ['TRANSFORM old']]);
  });

  it.each([
    ['[U1] [U5] while there is space, neither is an assistant message that shares no word with the request', []],
    ['[U1] [U5] nor one that the model rated 1', rated(1)],
    ['[U1] [U5] nor one that the model rated just high enough', rated(0.3)],
  ])('%s', (_, assessments) => {
    expect(losses([stale({ cycle: 9_999 })], { assessments })).toEqual([]);
    expect(losses([stale({ phase: null })], { assessments })).toEqual([]);
  });

  it('[U5] while there is space, an irrelevant output is pruned once no recent phase referred to it', () => {
    const referring = aMessage({ id: 'r', role: 'search', content: 'So.', cycle: 9_999, references: ['old'] });
    expect(losses([stale()])).toEqual(['PRUNE old']);
    expect(losses([stale(), referring])).toEqual([]);
  });

  it('[U5] while there is space, an assistant message of an earlier cycle is pruned if the model rated it low', () => {
    expect(losses([stale()], { assessments: rated(0.29) })).toEqual(['PRUNE old']);
    expect(losses([stale({ phase: null })], { assessments: rated(0.29) })).toEqual([]);
  });

  it.each(['assistant', 'search'] as const)(
    '[U5] [U6] no rule prunes a %s message in the cycle that produced it',
    (role) => {
      const fresh = stale({ role, phase: 'experience', cycle: 10_000 });
      for (const thresholds of [someThresholds(), eager.thresholds])
        expect(losses([fresh], { assessments: rated(0), thresholds })).toEqual([]);
    },
  );

  it('[U5] pruning by relevance begins at a configurable share of the limit', () => {
    const at = (pruneAbove: number) =>
      losses([stale({ cycle: 9_999 })], { thresholds: someThresholds({ pruneAbove }), tokensAllowed: 1_000 });
    expect([0.06, 0.07].map(at)).toEqual([['PRUNE old'], []]);
  });

  it('[U3] [U6] an irrelevant search result is pruned, never summarized', () => {
    expect(kinds([stale({ role: 'search' })], { assessments: rated(0.29) })).toEqual(['PRUNE old']);
    const user = aMessage({ id: 'u', role: 'user', content: 'When?', references: ['old'], cycle: 9_999 });
    expect(losses([stale({ role: 'search' }), user], { assessments: rated(0.4) })).toEqual([]);
  });

  it('[U6] a search result is kept while a phase referred to it in the last `recentPhases` phases', () => {
    const result = aMessage({ id: 'old', role: 'search', content: 'Tide.', cycle: 1, phase: 'experience' });
    const answer = aMessage({
      id: 'y',
      role: 'assistant',
      content: 'Low.',
      cycle: 2,
      phase: 'yield',
      references: ['old'],
    });
    const inCycle = (cycle: number, recentPhases: number, messages: readonly Message[]) =>
      losses(messages, { cycle, thresholds: someThresholds({ recentPhases }) }).filter((loss) => loss.endsWith('old'));
    expect([3, 4].map((cycle) => inCycle(cycle, 6, [result, answer]))).toEqual([[], ['PRUNE old']]);
    expect([2, 3].map((cycle) => inCycle(cycle, 12, [result]))).toEqual([[], ['PRUNE old']]);
    expect(inCycle(3, 15, [result])).toEqual([]);
    const linked = { ...answer, references: [], links: [{ to: 'old', relation: 'r', strength: 1 }] };
    expect(inCycle(90, 1, [result, linked])).toEqual([]);
  });

  it.each([
    [1_000, []],
    [1_001, ['TRANSFORM old']],
  ])('[U3] [U4] an irrelevant user message of %d characters yields %j', (length, wanted) => {
    const message = stale({ role: 'user', content: 'word '.repeat(300).slice(0, length) });
    expect(kinds([message])).toEqual(wanted);
  });

  it('[U4] a 200-character summary of a user message is offered and waits for consent', () => {
    const [operation] = planned([stale({ role: 'user', content: 'word '.repeat(300) })]);
    expect(operation).toMatchObject({ data: { maxChars: 200 }, metadata: { requiresConsent: true, role: 'user' } });
    expect(operation?.operation === 'TRANSFORM' && operation.data.content.length).toBeLessThanOrEqual(200);
  });

  it('[U4] both lengths for user messages are configurable', () => {
    const thresholds = someThresholds({ userMessageChars: 20, userSummaryChars: 10 });
    const [operation] = planned([stale({ role: 'user', content: 'word '.repeat(5) })], { thresholds });
    expect(operation).toMatchObject({ operation: 'TRANSFORM', data: { maxChars: 10 } });
  });

  it('[U4] [U9] a user message that the user kept is not asked about again', () => {
    expect(kinds([stale({ role: 'user', content: 'word '.repeat(300), tags: [KEPT_BY_USER] })])).toEqual([]);
  });

  it.each(['pinned', 'critical'])('[U10] a message tagged %s is not changed by any rule', (tag) => {
    const roles = ['user', 'assistant', 'search'] as const;
    const all = roles.map((role) => stale({ id: role, role, tags: [tag], content: LONG.repeat(9) }));
    expect(kinds(all, { maxMessages: 1, tokensAllowed: 0 })).toEqual([]);
  });

  it('[U7] [U13] the reported number satisfies the reported rule', () => {
    const [operation] = planned([stale()], { assessments: rated(0.297), ...eager });
    expect(operation?.operation).toBe('PRUNE');
    expect(operation?.metadata['relevance']).toBeLessThan(0.3);
  });

  it('[U7] a message with a high rating from the model is prioritized', () => {
    expect(kinds([stale()], { assessments: rated(0.5) })).toContain('PRIORITIZE old');
  });

  it.each(['user', 'assistant'] as const)('[U4] [U5] a long blank %s message yields no invalid operation', (role) => {
    const blank = stale({ role, content: ' '.repeat(1_001) });
    for (const operation of planned([blank], { assessments: rated(0.4) }))
      expect(contextOperationSchema.safeParse(operation).success).toBe(true);
  });
});

describe('the source of a message that stays', () => {
  const source = aMessage({
    id: 'source',
    role: 'search',
    phase: 'experience',
    content: 'The garden wall is two meters high and needs paint.',
    cycle: 9_999,
    importance: 0,
    references: [],
  });
  const citing = (references: readonly string[]) => stale({ cycle: 9_999, references: [...references] });

  it('[U5] is not pruned by relevance alone when the message becomes a summary', () => {
    const summarized = { assessments: rated(0.5), ...eager };
    expect(losses([source, citing([])], summarized)).toEqual(['PRUNE source', 'TRANSFORM old']);
    expect(losses([source, citing(['source'])], summarized)).toEqual(['TRANSFORM old']);
  });

  it('[U5] is pruned with the message, or if the model rates it', () => {
    expect(losses([source, citing(['source'])], { assessments: rated(0), ...eager })).toContain('PRUNE source');
    const assessments = [...rated(0.5), { messageId: 'source', relevance: 0, reason: 'said so' }];
    expect(losses([source, citing(['source'])], { assessments, ...eager })).toContain('PRUNE source');
  });

  it('[U6] is replaced in its references by the duplicate that stays', () => {
    const same = { ...source, id: 'same' };
    const also = stale({ id: 'also', cycle: 9_999, references: ['same'], tags: ['pinned'] });
    const given = [source, citing(['source']), same, also];
    const left = applyOperations(given, planned(given, { assessments: rated(0.9) }));
    expect(left.map(({ id, references }) => [id, references])).toEqual([
      ['source', []],
      ['old', ['source']],
      ['also', ['source']],
    ]);
  });
});
