import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOperationSchema } from '../../../machines/contracts/context.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { append, contextDocument, contextOf, removableCount, undo } from '../../../machines/policies/context.ts';
import { contextArbitrary } from '../../support/arbitraries.ts';
import { someThresholds } from '../../support/contract-samples.ts';
import {
  applyWithoutConsent,
  assistantMessage,
  isProtected,
  retentionPlan,
  searchMessage,
  userMessage,
  userTexts,
} from '../../support/retention.ts';

const losses = (messages: readonly Message[], changes: Parameters<typeof retentionPlan>[1] = {}) =>
  retentionPlan(messages, changes).operations.filter(
    ({ operation }) => operation === 'PRUNE' || operation === 'TRANSFORM',
  );

/** Thresholds that compare with relevance, at their limits and in between. */
const thresholds = fc
  .record({
    prune: fc.constantFrom(0, 0.3, 1),
    summarize: fc.constantFrom(0, 0.7, 1),
    windowShare: fc.constantFrom(0, 1),
    userMessageChars: fc.constantFrom(1, 1_000),
    userSummaryChars: fc.constantFrom(1, 200),
    assistantSummaryChars: fc.constantFrom(1, 100),
  })
  .map(({ prune, ...others }) => someThresholds({ prune: Math.min(prune, others.summarize), ...others }));
const limits = fc.record({
  maxMessages: fc.constantFrom(1, 3, 200),
  tokensAllowed: fc.constantFrom(0, 1, 40, 100_000),
});
/** Any value in place of a number. */
const number = fc.constantFrom(
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  -1,
  -0,
  0,
  1e308,
  5e-324,
);
const oddContext = fc
  .tuple(contextArbitrary, fc.array(fc.record({ importance: number, cycle: number, createdAtMs: number })))
  .map(([messages, odd]) => messages.map((message, at) => ({ ...message, ...odd[at] })));

describe('any context under any limits', () => {
  it('[U4] [U5] [U8] [U10] never loses user content without consent, protected messages, or the newest answer, even at thresholds of 0 and 1', () => {
    fc.assert(
      fc.property(contextArbitrary, thresholds, limits, fc.nat(9), (messages, given, room, cycle) => {
        const changes = { thresholds: given, ...room, cycle };
        const left = applyWithoutConsent(messages, changes);
        expect(userTexts(left)).toEqual(userTexts(messages));
        const targets = losses(messages, changes).map(({ target }) => target);
        const newest = messages.findLast(({ role }) => role === 'assistant')?.id;
        for (const message of messages)
          if (isProtected(message) || message.id === newest) expect(targets).not.toContain(message.id);
      }),
    );
  });

  it('[U10] ends up within its limits, except for messages that stay', () => {
    fc.assert(
      fc.property(contextArbitrary, limits, (messages, room) => {
        const staying = messages.length - removableCount(messages);
        expect(applyWithoutConsent(messages, room).length).toBeLessThanOrEqual(staying + room.maxMessages);
      }),
    );
  });

  it('[U7] [U11] yields valid operations for any value of importance, cycle, or time', () => {
    fc.assert(
      fc.property(oddContext, limits, (messages, room) => {
        for (const operation of retentionPlan(messages, room).operations)
          expect(contextOperationSchema.parse(operation)).toEqual(operation);
        expect(userTexts(applyWithoutConsent(messages, room))).toEqual(userTexts(messages));
      }),
    );
  });

  it('[U1] ignores similarities that are too few, too many, or not numbers', () => {
    fc.assert(
      fc.property(contextArbitrary, fc.array(number), (messages, similarity) => {
        for (const { metadata } of retentionPlan(messages, { similarity, tokensAllowed: 0 }).operations)
          if ('relevance' in metadata)
            expect(metadata['relevance']).toSatisfy((value: number) => value >= 0 && value <= 1);
      }),
    );
  });
});

// Guards against counting an invalid rating as 0 in the average, which would prune a message.
it('[U1] [U5] a rating that is not a number is ignored', () => {
  const full = assistantMessage('a', 'The harbour bridge was opened in 1932. '.repeat(4), {
    cycle: 3,
    importance: 1,
    phase: 'action',
  });
  const rated = (relevance: number) =>
    losses([full, assistantMessage('n', 'Yes.', { cycle: 3, phase: 'action' })], {
      assessments: [{ messageId: 'a', relevance, reason: '' }],
    });
  expect(rated(1)).toEqual([]);
  expect(rated(Number.NaN)).toEqual([]);
});

// Token counts come from an actor: a NaN sum must not count as within the limit, and -2,000 must not make room for others.
it.each([Number.NaN, -2_000])(
  '[U10] a message of %d tokens does not hide that the context is over its limit',
  (odd) => {
    const messages = [
      userMessage('u', 'Hello.'),
      searchMessage('b', 'So it was. '.repeat(40), { cycle: 3 }),
      assistantMessage('n', 'Yes.'),
    ];
    const { operations: made, tokensOver } = retentionPlan(messages, { tokens: [odd, 1_000, 1], tokensAllowed: 10 });
    expect(made.map(({ target }) => target)).toContain('b');
    expect(Number.isFinite(tokensOver)).toBe(true);
  },
);

describe('ids equal to built-in object properties', () => {
  const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];

  it('[C3] [U12] are handled like any other id in plans, contexts, and undo', () => {
    const messages = ids.flatMap((id, at) => [
      searchMessage(id, `Tide table ${at} of ${1900 + at}.`, {
        references: [ids[(at + 1) % ids.length] ?? ''],
        cycle: 2,
      }),
      userMessage(`u.${id}`, `Question ${at}?`),
    ]);
    expect(losses(messages)).toEqual([]);
    const made = losses(messages, { tokensAllowed: 0, mayAsk: false });
    expect(made.map(({ target }) => target).toSorted()).toEqual(ids.toSorted());
    const document = append(contextDocument(messages), made);
    expect(contextOf(document).map(({ id }) => id)).toEqual(ids.map((id) => `u.${id}`));
    expect(contextOf(made.reduce((left, { id }) => undo(left, id), document))).toEqual(messages);
    expect(({} as Record<string, unknown>)['tags']).toBeUndefined();
  });
});
