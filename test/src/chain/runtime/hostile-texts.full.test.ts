import { describe, expect, it } from 'vitest';
import { messageSchema } from '../../../../machines/contracts/message.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { HOSTILE_TEXTS } from '../../../support/hostile-input.ts';
import { assistantMessage, searchMessage, userMessage, userTexts } from '../../../support/retention.ts';
import { entriesOf } from '../../../support/run-chain.ts';
import { sampleSize } from '../../../support/soak.ts';

const roomy = (plan: object = {}) =>
  scriptedModel(({ task }) => ({ ...replies, ...plan })[task as 'yield'], {
    contextWindowTokens: 1e9,
    chunkChars: 1e6,
  });

const CHARS = sampleSize('characters of each hostile text', 500_000, 2_000_000);

describe('a run with hostile texts', () => {
  it.each(Object.entries(HOSTILE_TEXTS))(
    '[U4] [E3] of %s, long ones from the user and from the model, ends and keeps user content',
    async (_, textOf) => {
      const text = textOf(CHARS);
      const history = [
        { role: 'user' as const, content: text },
        { role: 'assistant' as const, content: text },
        { role: 'assistant' as const, content: 'Yes.' },
      ];
      // With numbers, because a reply that repeats itself is stopped.
      const answer = text.slice(0, 300_000).replaceAll(/.{100}/gsu, (part, at) => `${part}${at}`);
      const yields = { ...replies.yield, answer, confidence: 0.5 };
      const limits = { maxCycles: 2, maxTokens: 1e12, consentMs: 1 };
      const run = createPostChain({ model: roomy({ yield: yields }), newId: () => 'r', consent: 'ask', limits }).run({
        request: 'So?',
        history,
      });
      const { metadata } = await run.answer;
      expect(metadata.failures).toEqual([]);
      const { messages } = run.ref.getSnapshot().context;
      expect(messages.find(({ id }) => id === 'earlier.h1')?.content === text).toBe(true);
      for (const message of messages) expect(messageSchema.safeParse(message).success).toBe(true);
    },
  );

  it('[U8] [U10] [U13] of 10,000 messages asks once, keeps user content, and reports the excess', async () => {
    const makers = [userMessage, searchMessage, assistantMessage];
    const messages = Array.from({ length: 10_000 }, (_, at) =>
      (makers[at % 3] ?? userMessage)(`m${at}`, `Note ${at} of ${at % 97} boats.`),
    );
    const limits = { maxTokens: 1e12, consentMs: 1, maxMessages: 100 };
    const model = { ...roomy(), contextWindowTokens: 40_000 };
    const run = createPostChain({ model, newId: () => 'r', consent: 'ask', limits }).run({
      request: 'So?',
      messages,
    });
    const { notes } = await run.answer;
    const [asked, ...more] = entriesOf(run, 'consent-asked');
    expect(more).toEqual([]);
    expect(asked?.request.items.length).toBeGreaterThan(1_000);
    expect(userTexts(run.ref.getSnapshot().context.messages)).toHaveLength(3_335);
    expect(notes).toMatch(/\d+ tokens over its limit/);
  });
});
