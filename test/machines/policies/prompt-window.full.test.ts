import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PhaseInput } from '../../../machines/contracts/phase-io.ts';
import { phaseAttempt } from '../../../machines/policies/phase-calls.ts';
import { contextTokens } from '../../../machines/policies/understanding.ts';
import { tokensAllowed, tokensPerCharOf } from '../../../machines/policies/usage.ts';
import { promptSpec } from '../../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../../src/chain/prompts/registry.ts';
import { contextArbitrary } from '../../support/arbitraries.ts';
import { aState, someLimits } from '../../support/contract-samples.ts';
import { assistantMessage, isProtected, searchMessage, userMessage, userTexts } from '../../support/retention.ts';

const inputOf = (state: ReturnType<typeof aState>) => phaseAttempt(state).input as PhaseInput;

describe('the context shown to a model', () => {
  it('[U10] is complete when it is within its limit', () => {
    fc.assert(
      fc.property(contextArbitrary, (messages) => {
        const state = aState({ messages, contextWindowTokens: 1_000_000 });
        expect(inputOf(state).messages).toEqual(messages);
      }),
    );
  });

  it('[U4] [U10] always includes user messages, protected messages, and the newest answer', () => {
    fc.assert(
      fc.property(contextArbitrary, fc.constantFrom(0, 10, 100), (messages, contextWindowTokens) => {
        const shown = inputOf(aState({ messages, contextWindowTokens })).messages;
        expect(userTexts(shown)).toEqual(userTexts(messages));
        const newest = messages.findLast(({ role }) => role === 'assistant');
        // A reference to a message that is not shown is left out.
        const texts = shown.map(({ id, content }) => `${id} ${content}`);
        for (const message of messages)
          if (isProtected(message) || message === newest) expect(texts).toContain(`${message.id} ${message.content}`);
      }),
    );
  });

  it('[U10] is within the limit by measured tokens', () => {
    const messages = [
      userMessage('u', '潮'),
      ...Array.from({ length: 20 }, (_, at) => searchMessage(`f${at}`, `${at}${'潮水很低'.repeat(25)}`)),
      assistantMessage('n', '是'),
    ];
    const state = aState({ messages, contextWindowTokens: 1_000, tokensPerChar: 1 });
    expect(contextTokens(state, inputOf(state).messages)).toBeLessThanOrEqual(tokensAllowed(state));
  });
});

describe('a prompt over many short messages', () => {
  const attributes = fc.record({
    tags: fc.array(fc.constantFrom('relevant', 'important', 'a longer tag of the user'), { maxLength: 12 }),
    importance: fc.constantFrom(0.5, 0.123_456_789),
    links: fc.array(
      fc.record({
        to: fc.constantFrom('m1', 'm2'),
        relation: fc.constantFrom('supports', 'contradicts'),
        strength: fc.constant(0.7),
      }),
      { maxLength: 9 },
    ),
    references: fc.array(fc.constantFrom('m1', 'm2', 'm3'), { maxLength: 9 }),
    source: fc.constantFrom(null, { path: 'docs/a/rather/long/path/of/a/document.md', startLine: 120, endLine: 140 }),
    phase: fc.constantFrom(null, 'understanding' as const),
  });

  it.each(['understanding', 'yield'] as const)('[U10] to %s is within the window of its model', (phase) => {
    fc.assert(
      fc.property(
        fc.array(attributes, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(2_000, 8_000, 32_000),
        (some, contextWindowTokens) => {
          const messages = Array.from({ length: 1_000 }, (_, at) =>
            searchMessage(`m${at}`, `Note ${at}.`, some[at % some.length]),
          );
          const state = aState({
            phase,
            messages,
            contextWindowTokens,
            limits: someLimits({ maxMessages: 10_000 }),
            recursion: { step: 1 },
          });
          const turns = promptSpec(prompts[phase]).turns(inputOf(state));
          const chars = turns.reduce((sum, { content }) => sum + content.length, 0);
          expect(chars * state.tokensPerChar).toBeLessThanOrEqual(contextWindowTokens);
        },
      ),
      { numRuns: 6 },
    );
  });

  it('[U10] is within the window if its tags and paths are in a script with more tokens than the contents', () => {
    const tags = Array.from({ length: 8 }, (_, at) => `重要的用户标签与其他说明${at}`);
    const source = { path: '上海地铁/首班车与末班车时刻表/二号线.md', startLine: 1, endLine: 2 };
    const messages = Array.from({ length: 400 }, (_, at) => searchMessage(`m${at}`, `Note ${at}.`, { tags, source }));
    const state = aState({
      phase: 'understanding',
      messages,
      contextWindowTokens: 32_000,
      limits: someLimits({ maxMessages: 10_000 }),
      recursion: { step: 1 },
    });
    const turns = promptSpec(prompts.understanding).turns(inputOf(state));
    const tokens = turns.reduce((sum, { content }) => sum + content.length * tokensPerCharOf([content]), 0);
    expect(tokens).toBeLessThanOrEqual(32_000);
  });
});
