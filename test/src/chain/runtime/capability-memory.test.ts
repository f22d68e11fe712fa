import { describe, expect, it } from 'vitest';
import { modelDecider } from '../../../../src/chain/runtime/decider.ts';
import {
  LOOP_HOSTS,
  type LoopScript,
  REQUEST,
  type StartedLoop,
  startLoop,
} from '../../../support/capability-loops.ts';
import { nextTurn } from '../../../support/simulated-clock.ts';

const user = { role: 'user', content: REQUEST };
const entry = (capability: string, summary = `${capability} ran`, success = true) => ({
  role: 'assistant',
  capability,
  success,
  summary,
});
const review = { done: false, next: { capability: 'review', arguments: {} } } as const;

describe.each(LOOP_HOSTS)('[R4] the session memory of a request, through %s', (way) => {
  it('is the user message plus one entry per run', async () => {
    const seen: unknown[] = [];
    const played: StartedLoop = startLoop(way, {
      options: {
        decider: ({ results }) => {
          seen.push(played.memory());
          return results.length < 3 ? review : { done: true };
        },
      },
    });
    await played.end();
    const first = [user, entry('draft')];
    const second = [...first, entry('review')];
    const third = [...second, entry('review')];
    expect(seen).toEqual([first, second, third]);
    expect(played.memory()).toEqual(third);
  });

  it.each<[string, LoopScript]>([
    ['a function', { options: { decider: () => new Promise(() => {}) } }],
    ['the model', { options: { decider: modelDecider }, continuations: [{ hang: true }] }],
  ])('contains the run while %s is still deciding', async (_, script) => {
    const played = startLoop(way, script);
    for (let turns = 0; turns < 30; turns += 1) await nextTurn();
    expect(played.isActive()).toBe(true);
    expect(played.memory()).toEqual([user, entry('draft')]);
    played.cancel();
    await played.end();
  });

  it('keeps the shortened output of the capability, not the final output of the decider', async () => {
    const played = startLoop(way, {
      execute: { draft: () => 'long '.repeat(1_000) },
      options: { decider: () => ({ done: true, finalOutput: 'In short.' }) },
    });
    await played.end();
    const [, remembered] = played.memory();
    expect(JSON.stringify(remembered).length).toBeLessThan(1_000);
    expect(remembered).toMatchObject({ summary: expect.stringMatching(/^long long /) });
  });
});
