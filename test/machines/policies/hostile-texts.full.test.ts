import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GradingInput } from '../../../machines/contracts/grading.ts';
import type { Message } from '../../../machines/contracts/message.ts';
import { gradeByDefault } from '../../../machines/heuristics/default-grader.ts';
import { changeBetween, fingerprint } from '../../../machines/policies/assessment.ts';
import { relevanceOf } from '../../../machines/policies/relevance.ts';
import { extractSummary, preview, summarize } from '../../../machines/text/summary.ts';
import { someThresholds } from '../../support/contract-samples.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-input.ts';
import {
  applyWithoutConsent,
  assistantMessage,
  REQUEST,
  retentionPlan,
  searchMessage,
  userMessage,
  userTexts,
} from '../../support/retention.ts';

const share = (value: number | null) => expect(value === null || (value >= 0 && value <= 1)).toBe(true);
const graded = (input: Omit<GradingInput, 'claimsCompletion'>) => {
  const { grounding, completion, sufficiency, satisfaction, contradictions } = gradeByDefault({
    ...input,
    claimsCompletion: true,
  });
  for (const grade of [grounding, completion, sufficiency, satisfaction]) share(grade);
  expect(contradictions).toEqual([]);
};
/** Has no lone surrogates. */
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** 10 MB, for which anything slower than linear takes minutes and exceeds the test timeout. */
const HUGE = 10_000_000;
/** The default maximum reply length of a run. */
const LONGEST_REPLY = 2_000_000;
const kinds = Object.entries(HOSTILE_TEXTS);
const roles = { user: userMessage, search: searchMessage, assistant: assistantMessage };

describe('a message of 10 MB', () => {
  it.each(kinds)(
    '[U4] [U5] [U6] of %s is rated, summarized, or pruned, with consent for user messages',
    (_, textOf) => {
      const text = textOf(HUGE);
      for (const make of Object.values(roles)) {
        const messages = [make('huge', text, { cycle: 3 }), assistantMessage('n', 'Yes.', { cycle: 3 })];
        const { operations } = retentionPlan(messages, { tokensAllowed: 1_000 });
        for (const operation of operations)
          if (operation.operation === 'TRANSFORM') {
            expect(operation.data.content.length).toBeLessThanOrEqual(operation.data.maxChars);
            expect(operation.data.content.trim()).not.toBe('');
          }
        expect(
          userTexts(applyWithoutConsent(messages, { tokensAllowed: 1_000 })).join('') === userTexts(messages).join(''),
        ).toBe(true);
      }
    },
  );

  it.each(kinds)('[U1] [Y1] [Y3] of %s can be the request or a retrieved text', (_, textOf) => {
    const text = textOf(HUGE);
    const gathered = [{ id: 'a', content: text }];

    expect(() =>
      retentionPlan([searchMessage('a', 'The bridge.'), assistantMessage('n', 'Yes.')], { request: text }),
    ).not.toThrow();
    const dialogue = [
      { role: 'assistant' as const, content: text },
      { role: 'user' as const, content: text },
    ];
    graded({ request: text, answer: 'In 1932.', rationale: text, evidence: gathered, dialogue, instructions: null });
  });
});

describe('an answer of the maximum reply length', () => {
  it.each(kinds)('[Y1] [Y2] [Y7] of %s is compared, fingerprinted, and checked against the evidence', (_, textOf) => {
    const text = textOf(LONGEST_REPLY);
    const gathered = [{ id: 'a', content: 'The harbour bridge was opened in 1932.' }];
    expect(changeBetween(text, text)).toBe(0);
    expect(fingerprint(text)).toMatch(/^[0-9a-f]{8}$/);
    graded({ request: REQUEST, answer: text, rationale: '', evidence: gathered, dialogue: [], instructions: null });
  });

  // Guards against a regular expression that overflows the stack for a word of 4.5 million letters (RangeError).
  it('[Y2] [Y7] may be longer if the limit is higher', () => {
    const word = HOSTILE_TEXTS['combining marks']?.(5_000_000) ?? '';
    expect(fingerprint(word)).toMatch(/^[0-9a-f]{8}$/);
    expect(changeBetween(word, word)).toBe(0);
  });

  // These differ only in characters that are neither letters nor digits, and must not share a fingerprint.
  it.each([
    ['C++', 'C#'],
    ['-5', '5'],
    ['✅', '❌'],
    ['x < y', 'x > y'],
  ])('[Y2] [Y7] has changed when "%s" became "%s"', (before, after) => {
    expect(changeBetween(before, after)).toBeGreaterThan(0);
    expect(fingerprint(before)).not.toBe(fingerprint(after));
  });
});

describe('10,000 messages', () => {
  /** A context whose messages count how often they are read. */
  function watched(count: number) {
    let readings = 0;
    const messages = Array.from({ length: count }, (_, at): Message => {
      const make = [userMessage, searchMessage, assistantMessage][at % 3] ?? userMessage;
      const message = make(`m${at}`, '', { references: at % 7 === 0 ? [`m${at + 1}`] : [] });
      const content = `Note ${at} of the harbour, with ${(at * 7_919) % 997} boats and ${(at * 104_729) % 991} gulls.`;
      return Object.defineProperty(message, 'content', {
        get: () => {
          readings += 1;
          return content;
        },
      });
    });
    return { messages, readings: () => readings };
  }

  it.each([
    [200, 100_000],
    [1, 100_000],
    [20_000, 0],
  ])(
    '[U14] are read as often as 1,000 are, per message, for limits of %d messages and %d tokens',
    (maxMessages, tokensAllowed) => {
      const readingsEach = (count: number) => {
        const { messages, readings } = watched(count);
        retentionPlan(messages, { tokens: messages.map(() => 20), maxMessages, tokensAllowed });
        return readings() / count;
      };
      const few = readingsEach(1_000);
      expect(few).toBeGreaterThan(1);
      expect(readingsEach(10_000)).toBeLessThanOrEqual(few * 1.2);
    },
  );

  it('[U8] from a user need only one consent request and stay until the reply', () => {
    const messages = Array.from({ length: 10_000 }, (_, at) => userMessage(`u${at}`, `Question ${at}?`));
    const { operations, excess } = retentionPlan(messages, { maxMessages: 1 });
    expect(operations.filter(({ metadata }) => metadata['requiresConsent'] === true)).toHaveLength(9_999);
    expect(excess.messages).toBe(9_999);
    expect(applyWithoutConsent(messages, { maxMessages: 1 })).toHaveLength(10_000);
  });
});

describe('characters outside the Basic Multilingual Plane', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 400 });
  const chars = fc.integer({ min: 1, max: 120 });

  it('[U5] [U8] are never split by a bounded summary, preview, or extract', () => {
    fc.assert(
      fc.property(text, chars, text, (given, most, topic) => {
        for (const short of [summarize(given, most), extractSummary(given, most, topic)]) {
          expect(short.length).toBeLessThanOrEqual(most);
          expect(isWhole(short)).toBe(true);
        }
        expect(preview(given).length).toBeLessThanOrEqual(51);
        expect(isWhole(preview(given))).toBe(true);
      }),
    );
  });

  it('[U5] [U8] are not split at the end of a preview or of a summary without spaces', () => {
    for (const length of [48, 49, 50, 51]) {
      const text = `${'x'.repeat(length)}${'🌉'.repeat(20)}`;
      expect(isWhole(preview(text))).toBe(true);
      for (const most of [length, length + 1, length + 2]) expect(isWhole(summarize(text, most))).toBe(true);
    }
  });

  // Only the first 20,000 UTF-16 units of a text are read, and a surrogate pair may cross that border.
  it('[U5] are not split where the reading of a long text stops', () => {
    const filler = 'A quiet line about nothing at all.\n'.repeat(600);
    for (const length of [19_987, 19_988]) {
      const long = `${filler.slice(0, length - 1)}\nThe bridge ${'🌉'.repeat(30)}`;
      expect(isWhole(extractSummary(long, 100, 'bridge'))).toBe(true);
    }
  });
});

// Guards against memoized words that are slices of their text and so retain all of it (V8).
it('[U10] a text that was read is not retained through its words', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMb = () => {
    collect();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const before = heapMb();
  for (let at = 0; at < 40; at += 1) {
    const content = JSON.parse(
      JSON.stringify(
        `unheardofword${'abcdefghij'.charAt(at % 10)}${'klmnopqrst'.charAt(at / 10)} ${'So it was. '.repeat(200_000)}`,
      ),
    );
    relevanceOf([searchMessage('a', content)], {
      request: REQUEST,
      cycle: 1,
      nowMs: 0,
      ...someThresholds(),
      similarity: null,
    });
  }
  expect(heapMb() - before).toBeLessThan(30);
});
