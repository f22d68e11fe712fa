import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ContextOperation, contextOperationSchema } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { applyOperations } from '../../../machines/policies/context.ts';
import { planRetention } from '../../../machines/policies/retention.ts';
import { estimatedMeasures, pruningLog, statistics } from '../../../machines/policies/understanding.ts';
import { contextArbitrary, prose, unit } from '../../support/arbitraries.ts';
import { aMessage, deepFreeze, someThresholds } from '../../support/contract-samples.ts';
import {
  type EvaluatedInputs,
  estimatedTokens,
  isProtected,
  plannedOperations,
  retentionPlan,
} from '../../support/retention.ts';

const assessments = fc.array(
  fc.record({ messageId: fc.constantFrom('a', 'b', 'c', 'd', 'nobody'), relevance: unit, reason: fc.constant('') }),
  { maxLength: 4 },
);
const thresholds = fc.record({ userMessageChars: fc.integer({ min: 20, max: 1_000 }) }).map(someThresholds);
const inputsArbitrary: fc.Arbitrary<EvaluatedInputs> = fc.record({
  messages: contextArbitrary,
  request: prose,
  cycle: fc.integer({ min: 1, max: 12 }),
  nowMs: fc.integer({ min: 0, max: 10_000_000_000 }),
  step: fc.integer({ min: 1, max: 60 }),
  assessments,
  thresholds,
  maxMessages: fc.integer({ min: 1, max: 9 }),
  tokensAllowed: fc.nat(400),
});

const mustStay = (message: Message, messages: readonly Message[]) =>
  message.role === 'user' ||
  isProtected(message) ||
  message.id === messages.findLast(({ role, phase }) => role === 'assistant' && phase !== null)?.id ||
  message.id === messages.findLast(({ role, phase }) => role === 'assistant' && phase === null)?.id;

/** Returns the operations that need no consent. */
const unasked = (inputs: EvaluatedInputs, mayAsk = true) =>
  planRetention({ ...inputs, ...estimatedMeasures(inputs.messages), mayAsk }).operations.filter(
    ({ metadata }) => metadata['requiresConsent'] !== true,
  );

/** Whether the user agrees to the plan, or cannot be asked. */
function expectWithinLimits(inputs: EvaluatedInputs): void {
  const { messages, maxMessages, tokensAllowed } = inputs;
  for (const operations of [plannedOperations(inputs), unasked(inputs, false)]) {
    const left = applyOperations(messages, operations);
    const removable = left.filter((message) => !mustStay(message, messages));
    expect(removable.length).toBeLessThanOrEqual(maxMessages);
    if (estimatedTokens(left) > tokensAllowed) expect(removable).toEqual([]);
  }
}

const fill = (id: string, role: Message['role'], chars: number, changes: Partial<Message> = {}) =>
  aMessage({
    id,
    role,
    content: id.padEnd(chars, 'x'),
    cycle: 3,
    importance: 1,
    references: ['s1', 's2', 'a1'],
    ...changes,
  });

describe('retention under any context', () => {
  it('[C3] [U4] [U5] [U7] [U8] [U13] [U15] changes no protected message, and yields valid operations, always the same', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const all = plannedOperations(deepFreeze(given));
        expect(plannedOperations(structuredClone(given))).toEqual(all);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
        const byId = new Map(given.messages.map((message) => [message.id, message]));
        const newest = given.messages.findLast(({ role }) => role === 'assistant')?.id;
        for (const operation of all) {
          expect(contextOperationSchema.parse(operation)).toEqual(operation);
          expect(operation.reason).toMatch(/\d/);
          expect(byId.get(operation.target)?.tags.filter((tag) => tag === 'pinned' || tag === 'critical')).toEqual([]);
          expect(operation.target).not.toBe(newest);
        }
        for (const { target } of unasked(given)) expect(byId.get(target)?.role).not.toBe('user');
      }),
    );
  });

  it('[U10] stays within its limits while removable messages remain, with summaries', () => {
    const messages = [
      fill('a1', 'assistant', 4_000, { importance: 0.5 }),
      fill('a2', 'assistant', 400, { links: [{ to: 'a2', relation: 'r', strength: 1 }] }),
      fill('new', 'assistant', 4),
    ];
    const counterexample: EvaluatedInputs = {
      messages,
      request: 'When was the bridge opened?',
      cycle: 3,
      nowMs: 0,
      step: 5,
      assessments: [],
      maxMessages: 9,
      tokensAllowed: 20,
      thresholds: someThresholds({ prune: 0 }),
    };
    fc.assert(fc.property(inputsArbitrary, expectWithinLimits), { examples: [[counterexample]] });
  });
});

describe('a context over its limit', () => {
  it('[U10] prunes the least relevant search results first, then assistant messages, and stops at the limit', () => {
    const none = someThresholds({ prune: 0, summarize: 0, assistantSummaryChars: 1_000 });
    const messages = [
      fill('a1', 'assistant', 400),
      fill('s1', 'search', 400),
      fill('s2', 'search', 400, { importance: 0.2 }),
      fill('u1', 'user', 400),
      fill('new', 'assistant', 400),
    ];
    const pruned = (limit: Partial<EvaluatedInputs>) =>
      retentionPlan(messages, { ...limit, thresholds: none })
        .operations.filter(({ metadata }) => metadata['requiresConsent'] !== true)
        .map(({ target }) => target);
    const wanted = [[], ['s2'], ['s2', 's1'], ['s2', 's1', 'a1'], ['s2', 's1', 'a1']];
    expect([500, 400, 300, 200, 0].map((tokensAllowed) => pruned({ tokensAllowed }))).toEqual(wanted);
    expect([499, 399, 299, 199].map((tokensAllowed) => pruned({ tokensAllowed }))).toEqual(wanted.slice(1));
    expect([4, 3, 2, 1].map((maxMessages) => pruned({ maxMessages }))).toEqual([[], [], ['s2'], ['s2', 's1']]);
  });

  it('[U10] keeps the most relevant messages whole, summarizes or prunes the others, and asks if user messages leave no space', () => {
    const messages = [
      fill('a1', 'assistant', 4_000, { importance: 0.5 }),
      fill('s1', 'search', 4_000),
      fill('s3', 'search', 4_000),
      fill('u1', 'user', 900),
      fill('new', 'assistant', 40),
    ];
    const none = someThresholds({ prune: 0, summarize: 0 });
    const plan = (tokensAllowed: number) => {
      const { operations, tokensOver } = retentionPlan(messages, { tokensAllowed, thresholds: none });
      return [...operations.map(({ operation, target }) => `${operation} ${target}`), tokensOver];
    };
    expect(plan(3_235)).toEqual([0]);
    expect(plan(3_234)).toEqual(['PRUNE s3', 0]);
    expect(plan(2_234)).toEqual(['TRANSFORM a1', 'PRUNE s3', 0]);
    expect(plan(1_260)).toEqual(['TRANSFORM a1', 'PRUNE s3', 0]);
    expect(plan(1_259)).toEqual(['PRUNE s3', 'PRUNE a1', 0]);
    expect(plan(259)).toEqual(['TRANSFORM u1', 'TRANSFORM a1', 'PRUNE s3', 'PRUNE s1', 0]);
    expect(plan(234)).toEqual(['TRANSFORM u1', 'TRANSFORM a1', 'PRUNE s3', 'PRUNE s1', 1]);
  });

  it.each([0, 198, 5_000])('[U4] [U10] counts only messages that may be removed, beside %d user messages', (count) => {
    const users = Array.from({ length: count }, (_, at) => fill(`u${at}`, 'user', 4));
    const pinned = Array.from({ length: count }, (_, at) => fill(`p${at}`, 'assistant', 4, { tags: ['pinned'] }));
    const found = Array.from({ length: 210 }, (_, at) => fill(`f${at}`, 'search', 4, { importance: at / 210 }));
    const given = { tokensAllowed: 1e6, thresholds: someThresholds({ prune: 0 }) };
    const removed = (all: readonly Message[], mayAsk: boolean) =>
      retentionPlan(all, { ...given, mayAsk }).operations.map(({ target }) => target);
    const expected = Array.from({ length: 10 }, (_, at) => `f${at}`);
    for (const mayAsk of [true, false]) {
      expect(removed([...users, ...pinned, ...found], mayAsk)).toEqual(expected);
      expect(removed([...users, ...pinned, ...found.slice(10)], mayAsk)).toEqual([]);
    }
  });

  it('[U10] keeps the most relevant messages that fit: one large message before two small ones', () => {
    const messages = [
      fill('s1', 'search', 400, { importance: 0.9, references: ['s1', 's2', 's3'] }),
      fill('s2', 'search', 4_000, { importance: 0.5 }),
      fill('s3', 'search', 400, { importance: 0.1 }),
    ];
    const limit = { tokensAllowed: 200, thresholds: someThresholds({ prune: 0 }) };
    expect(retentionPlan(messages, limit).operations.map(({ target }) => target)).toEqual(['s2']);
  });

  it('[U10] reports the excess of pinned messages and drops none', () => {
    const messages = [
      fill('p', 'assistant', 4_000, { tags: ['pinned'] }),
      fill('c', 'user', 4_000, { tags: ['critical'] }),
    ];
    const plan = retentionPlan(messages, { tokensAllowed: 700, maxMessages: 1 });
    expect(plan).toEqual({ operations: [], tokensOver: 1_300 });
  });

  it('[U7] [U13] reports which limit is exceeded', () => {
    const messages = [fill('s1', 'search', 400), fill('new', 'assistant', 400)];
    const reason = (...given: Parameters<typeof retentionPlan>) => retentionPlan(...given).operations[0]?.reason;
    expect(reason(messages, { tokensAllowed: 199 })).toBe('200 tokens exceed the limit of 199');
    const more = [fill('s0', 'search', 400), ...messages];
    expect(reason(more, { maxMessages: 1 })).toBe('2 removable messages exceed the limit of 1');
  });

  const messages = [fill('s1', 'search', 400), fill('u1', 'user', 41)];
  const prune = {
    operation: 'PRUNE',
    id: 'o',
    target: 's1',
    data: {},
    code: 'over_limit',
    reason: 'r',
    metadata: { relevance: 0.25 },
  } as const;

  it('[U13] reports its size in messages and tokens, before and after', () => {
    const measures = estimatedMeasures(messages);
    expect(statistics({ messages, measures, operations: [prune], tokensAllowed: 70, maxMessages: 9 })).toEqual({
      messagesBefore: 2,
      messagesAfter: 1,
      tokensBefore: 111,
      tokensAfter: 11,
      tokensAllowed: 70,
      estimated: true,
      pruned: 1,
      summarized: 0,
      tokensOver: 0,
      messagesOver: 0,
    });
  });

  it('[U13] logs every pruned or summarized message with its role, size, relevance, and reason', () => {
    const tag = {
      operation: 'TAG',
      id: 'p',
      target: 'u1',
      data: { tags: ['kept-by-user'] },
      code: 'user_consent',
      reason: 'r',
      metadata: prune.metadata,
    } satisfies ContextOperation;
    expect(pruningLog([prune, tag], messages, estimatedMeasures(messages).tokens)).toEqual([
      {
        operationId: 'o',
        operation: 'PRUNE',
        messageId: 's1',
        role: 'search',
        preview: `${'s1'.padEnd(50, 'x')}…`,
        tokens: 100,
        relevance: 0.25,
        code: 'over_limit',
        reason: 'r',
      },
    ]);
  });
});
