import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import type { RunEvent } from '../../../../src/chain/runtime/run-events.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { ONE_CALL_PER_PHASE, settle } from '../../../support/run-chain.ts';

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event.type === 'partial' ? structuredClone(event) : event);
  return all;
}

type Partials = { value: { answerText?: string } }[];

/** A model that yields to the event loop after every four characters. */
function slowly(said: Record<string, unknown>): ChatModel {
  return {
    id: 'slow',
    contextWindowTokens: 1000,
    async *stream({ task }) {
      for (const piece of JSON.stringify(said[task]).match(/.{1,4}/gs) ?? []) {
        yield { type: 'text-delta', text: piece };
        await settle(1);
      }
      yield { type: 'finish', reason: 'stop', usage: null };
    },
  };
}

describe('events of a run', () => {
  it('[A7] [A8] include growing partial values during a reply, before its attempt ends', async () => {
    const events = await collect(
      createPostChain({ profile: ONE_CALL_PER_PHASE, model: slowly({ ...replies }) }).run({ request: 'Is it so?' })
        .events,
    );
    const partials = events.filter((event) => event.type === 'partial' && event.task === 'synthesis') as Partials;
    const answers = partials.map(({ value }) => value.answerText ?? '');
    expect(new Set(answers).size).toBeGreaterThan(2);
    for (const [index, answer] of answers.slice(1).entries())
      expect(answer.startsWith(answers[index] ?? '')).toBe(true);
    expect(partials.at(-1)?.value).toEqual(replies.synthesis);
    const lastPartial = events.findLastIndex((event) => event.type === 'partial' && event.task === 'synthesis');
    const end = events.findIndex((event) => event.type === 'attempt-end' && event.task === 'synthesis');
    expect(lastPartial).toBeLessThan(end);
  });
});
