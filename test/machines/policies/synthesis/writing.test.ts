import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerMaterial } from '../../../../machines/contracts/synthesis.ts';
import type { AnswerBasis } from '../../../../machines/policies/synthesis/basis.ts';
import { planWriting, type WritingPlan, writingPolicy } from '../../../../machines/policies/synthesis/writing.ts';
import { promptSpec } from '../../../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../../../src/chain/prompts/registry.ts';
import { requestOf } from '../../../../src/llm/request.ts';
import { aBasis } from '../../../support/answer-basis.ts';
import { aMessage, deepFreeze, someLimits } from '../../../support/contract-samples.ts';

const WINDOW = 128_000;
const withReserve = (synthesisReserveTokens: number | null, material: Partial<AnswerMaterial> = {}) =>
  aBasis({ limits: { ...aBasis().limits, synthesisReserveTokens } }, material);
const aDraft = (text: string, usedMessageIds: readonly string[] = []) => ({
  text,
  confidence: 1,
  usedMessageIds,
  notes: '',
});

function asked(plan: WritingPlan): Extract<WritingPlan, { asks: true }> {
  if (!plan.asks) throw new Error(JSON.stringify(plan.outcome));
  return plan;
}

const search = (id: string, chars: number, changes: object = {}) =>
  aMessage({ id, role: 'search', content: 'x'.repeat(chars), ...changes });

/** The characters of the prompt as sent: the template and the displayed input. */
function promptChars(input: AnswerMaterial): number {
  const { turns } = requestOf(promptSpec(prompts.synthesis), { task: 'synthesis', input, feedback: null }, 'text');
  return turns.reduce((sum, { content }) => sum + content.length, 0);
}

describe('calling a model for the answer', () => {
  it.each<[string, AnswerBasis, string]>([
    ['the reserve is unknown', withReserve(null), ''],
    ['its prompt exceeds the reserve', withReserve(300), 'does not fit into the 300 tokens'],
    [
      'the draft alone exceeds the reserve',
      withReserve(8_000, { draft: aDraft('x'.repeat(30_000)) }),
      'does not fit into the 8000 tokens',
    ],
  ])('[E9] is skipped without a failure when %s', (_, basis, why) => {
    const plan = planWriting(deepFreeze(basis), WINDOW);
    expect(plan).toMatchObject({ asks: false, outcome: { type: 'composed', why: expect.stringContaining(why) } });
  });

  it('[E6] shows the whole material unchanged if it fits', () => {
    const basis = deepFreeze(aBasis());
    expect(asked(planWriting(basis, WINDOW)).input).toEqual(basis.material);
  });
});

describe('the material shown to the model', () => {
  it('[E9] contains the sources of the draft first, then the steps, the user messages, and the most relevant rest', () => {
    const messages = [
      aMessage({ id: 'u', role: 'user', content: 'u'.repeat(4_000) }),
      search('used', 4_000),
      search('old', 4_000, { importance: 0.9 }),
      search('little', 4_000, { importance: 0.1 }),
      search('new', 4_000, { importance: 0.9 }),
    ];
    const steps = [{ stepId: 's1', phase: 'action', content: 'a'.repeat(4_000) }];
    const shownOf = (tokens: number) => {
      const reserve = Math.ceil(tokens / 0.75);
      const basis = withReserve(reserve, { messages, steps, draft: aDraft('It was so.', ['used']) });
      const { input } = asked(planWriting(deepFreeze(basis), WINDOW));
      return [...input.messages, ...input.steps]
        .filter(({ content }) => content.length === 4_000)
        .map((one) => ('stepId' in one ? one.stepId : one.id));
    };
    expect(shownOf(600)).toEqual([]);
    expect(shownOf(1_600)).toEqual(['used']);
    expect(shownOf(2_600)).toEqual(['used', 's1']);
    expect(shownOf(3_700)).toEqual(['u', 'used', 's1']);
    expect(shownOf(4_700)).toEqual(['u', 'used', 'new', 's1']);
    expect(shownOf(5_700)).toEqual(['u', 'used', 'old', 'new', 's1']);
    expect(shownOf(7_000)).toEqual(['u', 'used', 'old', 'little', 'new', 's1']);
  });

  it('[E9] contains the start of a message that does not fit, and a shorter one in full', () => {
    const messages = [search('short', 400), search('long', 40_000)];
    const shown = asked(planWriting(withReserve(4_000, { messages }), WINDOW)).input.messages;
    expect(shown.map(({ id, content }) => [id, content.endsWith('…')])).toEqual([
      ['short', false],
      ['long', true],
    ]);
  });

  it('[E9] never exceeds the counted prompt size and leaves a quarter for the reply', () => {
    const text = fc.oneof(
      fc.constantFrom('', 'In 1932.', '\u001b[31m\u0000\u202e💥\ud800', 'tide '.repeat(40)),
      fc.string({ unit: 'binary' }),
      fc.constant('</message>'.repeat(90)),
    );
    const message = fc
      .record({
        id: text.filter((id) => id !== ''),
        content: text,
        path: text,
        role: fc.constantFrom('user', 'assistant', 'search'),
      })
      .map(({ path, ...given }) => aMessage({ ...given, source: { path, startLine: 1, endLine: 999_999 } } as never));
    const basis = fc
      .record({
        request: text,
        ending: text,
        plan: text,
        draft: text,
        messages: fc.array(message, { maxLength: 9 }),
        steps: fc.array(fc.record({ stepId: fc.constant('s1'), phase: text, content: text }), { maxLength: 6 }),
        reserve: fc.constantFrom(700, 1_000, 2_000, 8_000),
      })
      .map(({ ending, plan, draft, reserve, ...material }) => {
        const notes = { ...aBasis().material.notes, ending, plan };
        return withReserve(reserve, { ...material, notes, draft: aDraft(draft) });
      });
    fc.assert(
      fc.property(basis, (given) => {
        const plan = planWriting(deepFreeze(given), WINDOW);
        if (!plan.asks) return;
        const reserve = given.limits.synthesisReserveTokens ?? 0;
        expect(promptChars(plan.input) * plan.tokensPerChar).toBeLessThanOrEqual(plan.promptTokens);
        expect(plan.promptTokens + plan.replyTokens).toBe(reserve);
        expect(plan.replyTokens).toBeGreaterThanOrEqual(reserve / 4);
      }),
      { numRuns: 300 },
    );
  });

  it('[E9] is counted by script: less Chinese text fits', () => {
    const messages = [search('a', 3_000, { content: '潮水很低'.repeat(750) })];
    const draft = aDraft('潮');
    expect(asked(planWriting(withReserve(3_000, { messages, draft }), WINDOW)).input.messages).toEqual([]);
    expect(asked(planWriting(withReserve(8_000, { messages, draft }), WINDOW)).input.messages).toHaveLength(1);
  });
});

describe('limits of the calls that write the answer', () => {
  const policyOf = (limits: Parameters<typeof someLimits>[0], basis = aBasis()) =>
    writingPolicy(
      { limits: someLimits(limits), prices: [], maxOutputTokens: [], fallbackModels: 0, policies: {} },
      asked(planWriting(basis, WINDOW)),
    );

  it('[A4] [E9] are at most one correction and one retry, or fewer if configured', () => {
    expect(policyOf({})).toMatchObject({ maxCorrections: 1, maxTransportRetries: 1, maxCalls: 3, maxTokens: 32_000 });
    expect(policyOf({ maxCorrections: 0, maxTransportRetries: 0 })).toMatchObject({
      maxCorrections: 0,
      maxTransportRetries: 0,
    });
  });

  it('[E9] allow a reply to fill the remaining window up to the maximum reply length', () => {
    const { promptTokens } = asked(planWriting(aBasis(), WINDOW));
    expect(policyOf({}).maxReplyChars).toBe((8_000 - promptTokens) * 4);
    expect(policyOf({ maxReplyChars: 100 }).maxReplyChars).toBe(100);
  });
});
