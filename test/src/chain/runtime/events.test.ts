import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../../machines/contracts/model.ts';
import type { RunEvent } from '../../../../src/chain/runtime/run-events.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { entriesOf, ONE_CALL_PER_PHASE, settle } from '../../../support/run-chain.ts';
import { TestClock } from '../../../support/simulated-clock.ts';

async function collect(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event.type === 'partial' ? structuredClone(event) : event);
  return all;
}

type Partials = { value: { answerText?: string } }[];

/** A model that yields to the event loop after every four characters. */
function slowly(said: Record<string, unknown>, wait: () => void = () => {}): ChatModel {
  return {
    id: 'slow',
    contextWindowTokens: 1000,
    async *stream({ task }) {
      for (const piece of JSON.stringify(said[task]).match(/.{1,4}/gs) ?? []) {
        wait();
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

  it('gives streamed text the time at which it arrives', async () => {
    const clock = new TestClock();
    const model = slowly({ ...replies }, () => clock.increment(10));
    const run = createPostChain({ model, clock }).run({ request: 'Is it so?' });
    await run.answer;
    const [started] = entriesOf(run, 'attempt-start');
    const [ended] = entriesOf(run, 'attempt-end');
    const times = entriesOf(run, 'text-delta')
      .filter(({ seq }) => seq < (ended?.seq ?? 0))
      .map(({ atMs }) => atMs - (started?.atMs ?? 0));
    expect(times[0]).toBeGreaterThanOrEqual(10);
    expect(times.at(-1)).toBeGreaterThan(times[0] ?? 0);
    expect(run.entries.map(({ atMs }) => atMs)).toEqual(run.entries.map(({ atMs }) => atMs).sort((a, b) => a - b));
  });
});
