import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { createPostChain } from '../../../../src/entries/index.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, sendAnswer, settle, unsureAnswer } from '../../../support/run-chain.ts';

describe('a context that stays over its limit', () => {
  /** Five long user messages in a context with room for four. */
  async function crowded(choice: string, items = {}) {
    const history = [1, 2, 3, 4, 5].map((at) => ({
      role: 'user' as const,
      content: `Story ${at}: ${'word '.repeat(180)}`,
    }));
    const reports = [1, 2].map((at) => ({
      role: 'assistant' as const,
      content: `Report ${at}. ${'word '.repeat(60)}`,
    }));
    const model = scriptedModel(({ task }) => replies[task as 'yield'], { contextWindowTokens: 10_000 });
    const chain = createPostChain({
      consent: 'ask',
      model,
      clock: new SimulatedClock(),
      newId: () => 'r',
      thresholds: { windowShare: 0.1 },
    });
    const run = chain.run({ request: 'Is it so?', history: [...reports, ...history] });
    await settle();
    for (let questions = 0; questions < 8 && run.actor.getSnapshot().status === 'active'; questions += 1) {
      sendAnswer(run, { type: 'consent.given', choice, items });
      await settle();
    }
    const { notes } = await run.answer;
    const statistics = entriesOf(run, 'context-evaluated').at(-1)?.statistics;
    if (statistics === undefined) throw new Error('nothing was evaluated');
    return { statistics, notes, over: Math.max(0, statistics.tokensAfter - statistics.tokensAllowed) };
  }

  it('[U10] [U13] is reported with the answer if the user keeps everything', async () => {
    const { statistics, notes, over } = await crowded('keep');
    expect(over).toBeGreaterThan(0);
    expect(statistics.tokensOver).toBe(over);
    expect(notes).toContain(`${over} tokens over its limit`);
  });

  it.each(['remove', 'summarize'])(
    '[U10] [U13] is not reported if the user lets enough be removed (%s)',
    async (choice) => {
      const { statistics, notes, over } = await crowded(choice);
      expect(over).toBe(0);
      expect({ tokensOver: statistics.tokensOver, notes }).toEqual({ tokensOver: 0, notes: '' });
    },
  );

  it('[U9] [U10] [U13] is reported in full if the user keeps more than was asked about', async () => {
    const { statistics, over } = await crowded('keep', { 'earlier.h1': 'keep', 'earlier.h7': 'keep' });
    expect(statistics.tokensOver).toBe(over);
  });

  it('[U8] is asked about once per run: not again for the next message in the next cycle', async () => {
    const history = [1, 2, 3, 4, 5].map((at) => ({
      role: 'user' as const,
      content: `Story ${at}: ${'word '.repeat(180)}`,
    }));
    const model = scriptedModel(({ task }, call) => ({ ...replies, yield: unsureAnswer(call) })[task as 'yield'], {
      contextWindowTokens: 10_000,
    });
    const chain = createPostChain({
      consent: 'ask',
      model,
      newId: () => 'r',
      thresholds: { windowShare: 0.1 },
      limits: { consentMs: 1, maxCycles: 4 },
    });
    const run = chain.run({ request: 'Is it so?', history });
    await run.answer;
    expect(entriesOf(run, 'consent-asked')).toHaveLength(1);
  });
});
