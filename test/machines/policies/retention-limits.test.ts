import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOperationSchema } from '../../../machines/contracts/context-operation.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { applyOperations } from '../../../machines/policies/context.ts';
import { type RetentionInputs, retentionOperations } from '../../../machines/policies/retention.ts';
import { statistics, tokensOf } from '../../../machines/policies/retention-limits.ts';
import { aMessage } from '../contracts/samples.ts';
import { contextArbitrary, prose, unit } from './context.arbitrary.ts';
import { deepFreeze } from './deep-freeze.ts';
import { someThresholds } from './states.ts';

const assessments = fc.array(
  fc.record({ messageId: fc.constantFrom('a', 'b', 'c', 'd', 'nobody'), relevance: unit, reason: fc.constant('') }),
  { maxLength: 4 },
);
const thresholds = fc.record({ userMessageChars: fc.integer({ min: 20, max: 1_000 }) }).map(someThresholds);
const inputsArbitrary: fc.Arbitrary<RetentionInputs> = fc.record({
  messages: contextArbitrary,
  request: prose,
  cycle: fc.integer({ min: 1, max: 12 }),
  step: fc.integer({ min: 1, max: 60 }),
  assessments,
  thresholds,
  maxMessages: fc.integer({ min: 1, max: 9 }),
  tokensAllowed: fc.nat(400),
});

const isProtected = (message: Message, messages: readonly Message[]) =>
  message.role === 'user' ||
  message.tags.some((tag) => ['pinned', 'critical', 'kept-by-user'].includes(tag)) ||
  message.id === messages.findLast(({ role }) => role === 'assistant')?.id;

/** What is applied when the user keeps everything. */
const unasked = (inputs: RetentionInputs) =>
  retentionOperations(inputs).filter(({ metadata }) => metadata['requiresConsent'] !== true);

function expectWithinLimits(inputs: RetentionInputs): void {
  const { messages, maxMessages, tokensAllowed } = inputs;
  const left = applyOperations(messages, unasked(inputs));
  if (left.length > maxMessages || tokensOf(left) > tokensAllowed)
    expect(left.filter((message) => !isProtected(message, messages))).toEqual([]);
}

const inputs = (messages: readonly Message[], changes: Partial<RetentionInputs> = {}): RetentionInputs => ({
  messages,
  request: 'When was the bridge opened?',
  cycle: 3,
  step: 5,
  assessments: [],
  thresholds: someThresholds(),
  maxMessages: 200,
  tokensAllowed: 1_000,
  ...changes,
});
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
  it('[U4] [U8] never touches a user message without asking for consent', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const users = new Set(given.messages.filter(({ role }) => role === 'user').map(({ id }) => id));
        for (const { target } of unasked(given)) expect(users).not.toContain(target);
      }),
    );
  });

  it('[U10] never touches a pinned or critical message', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const byId = new Map(given.messages.map((message) => [message.id, message]));
        for (const { target } of retentionOperations(given))
          expect(byId.get(target)?.tags.filter((tag) => tag === 'pinned' || tag === 'critical')).toEqual([]);
      }),
    );
  });

  it('[U5] never touches the newest assistant message', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const newest = given.messages.findLast(({ role }) => role === 'assistant')?.id;
        expect(retentionOperations(given).filter(({ target }) => target === newest)).toEqual([]);
      }),
    );
  });

  it('[C3] [U7] [U13] gives valid operations with ids of their own, each with a reason and numbers', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const all = retentionOperations(given);
        expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
        for (const operation of all) {
          expect(contextOperationSchema.parse(operation)).toEqual(operation);
          expect(operation.reason).toMatch(/\d/);
        }
      }),
    );
  });

  it('[U7] says the same for the same context, and leaves it unchanged', () => {
    fc.assert(
      fc.property(inputsArbitrary, (given) => {
        const copy = structuredClone(given);
        expect(retentionOperations(deepFreeze(given))).toEqual(retentionOperations(copy));
      }),
    );
  });

  it('[U10] stays within its limits while there is anything that may go, where nothing is summarised', () => {
    const short = inputsArbitrary.map((given) => ({
      ...given,
      thresholds: { ...given.thresholds, assistantSummaryChars: 1_000_000 },
    }));
    fc.assert(fc.property(short, expectWithinLimits));
  });

  it('[U10] stays within its limits while there is anything that may go, summaries included', () => {
    const messages = [
      fill('a1', 'assistant', 4_000, { importance: 0.5 }),
      fill('a2', 'assistant', 400, { links: [{ to: 'a2', relation: 'r', strength: 1 }] }),
      fill('new', 'assistant', 4),
    ];
    const counterexample = inputs(messages, {
      maxMessages: 9,
      tokensAllowed: 20,
      thresholds: someThresholds({ prune: 0 }),
    });
    fc.assert(fc.property(inputsArbitrary, expectWithinLimits), { examples: [[counterexample]] });
  });
});

describe('a context over its limit', () => {
  it('[U10] lets go of the least relevant search results first, then of assistant messages, and stops at the limit', () => {
    const none = someThresholds({ prune: 0, summarise: 0 });
    const messages = [
      fill('a1', 'assistant', 400),
      fill('s1', 'search', 400),
      fill('s2', 'search', 400, { cycle: 1 }),
      fill('u1', 'user', 400),
      fill('new', 'assistant', 400),
    ];
    const pruned = (limit: Partial<RetentionInputs>) =>
      retentionOperations(inputs(messages, { ...limit, thresholds: none })).map(({ target }) => target);
    const wanted = [[], ['s2'], ['s2', 's1'], ['s2', 's1', 'a1'], ['s2', 's1', 'a1']];
    expect([500, 400, 300, 200, 0].map((tokensAllowed) => pruned({ tokensAllowed }))).toEqual(wanted);
    expect([499, 399, 299, 199].map((tokensAllowed) => pruned({ tokensAllowed }))).toEqual(wanted.slice(1));
    expect([5, 4, 3, 2, 1].map((maxMessages) => pruned({ maxMessages }))).toEqual(wanted);
  });

  it('[U7] [U13] tells which of its limits it is over', () => {
    const messages = [fill('s1', 'search', 400), fill('new', 'assistant', 400)];
    const reason = (limit: Partial<RetentionInputs>) => retentionOperations(inputs(messages, limit))[0]?.reason;
    expect(reason({ tokensAllowed: 199 })).toBe('200 tokens are over the 199 allowed');
    expect(reason({ maxMessages: 1, tokensAllowed: 200 })).toBe('2 messages are over the 1 allowed');
  });

  it('[U13] tells its size in messages and tokens, before and after', () => {
    const messages = [fill('s1', 'search', 400), fill('u1', 'user', 41)];
    const prune = { operation: 'PRUNE', id: 'o', target: 's1', data: {}, reason: 'r', metadata: {} } as const;
    expect(statistics(messages, [prune], 70)).toEqual({
      messagesBefore: 2,
      messagesAfter: 1,
      tokensBefore: 111,
      tokensAfter: 11,
      tokensAllowed: 70,
    });
  });
});
