import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../machines/contracts/model.ts';
import type { Task } from '../../../machines/contracts/phase.ts';
import { createTurns } from '../../../src/durable/turns.ts';
import { createPostChain } from '../../../src/entries/index.ts';
import { replies } from '../../../src/testing/replies.ts';
import { TestClock } from '../../support/simulated-clock.ts';

/** Turns of an event loop that the test advances; each act takes `actMs`. */
function simulatedLoop({ budgetMs, actMs }: { readonly budgetMs: number; readonly actMs: number }) {
  let nowMs = 0;
  let deferred: (() => void)[] = [];
  const done: string[] = [];
  const takeTurn = createTurns({ now: () => nowMs, defer: (act) => void deferred.push(act), budgetMs });
  return {
    done,
    act: (name: string, then = () => {}) =>
      takeTurn(() => {
        nowMs += actMs;
        done.push(name);
        then();
      }),
    /** Starts the next turn and returns what it executed. */
    turn(): readonly string[] {
      const before = done.length;
      const acts = deferred;
      deferred = [];
      for (const act of acts) act();
      return done.slice(before);
    },
    get isIdle() {
      return deferred.length === 0;
    },
  };
}

describe('turns of the event loop', () => {
  it('are taken at once while the loop has been busy for less than its budget', () => {
    const loop = simulatedLoop({ budgetMs: 8, actMs: 2 });
    for (const name of 'abcdef') loop.act(name);
    expect(loop.done.join('')).toBe('abcd');
  });

  it('are then taken one at a time and in order, so that timers fire in between', () => {
    const loop = simulatedLoop({ budgetMs: 8, actMs: 2 });
    for (const name of 'abcdefg') loop.act(name);
    expect([loop.turn(), loop.turn()]).toEqual([['e'], ['f']]);
    loop.act('h');
    expect([loop.turn(), loop.turn(), loop.turn()]).toEqual([['g'], ['h'], []]);
    expect(loop.isIdle).toBe(true);
  });

  it('are taken at once again when nothing waits', () => {
    const loop = simulatedLoop({ budgetMs: 8, actMs: 10 });
    loop.act('a');
    loop.turn();
    loop.act('b');
    expect(loop.done.join('')).toBe('ab');
  });

  it('wait behind earlier ones when an act asks for another', () => {
    const loop = simulatedLoop({ budgetMs: 8, actMs: 10 });
    loop.act('a', () => loop.act('c'));
    loop.act('b');
    while (!loop.isIdle) loop.turn();
    expect(loop.done.join('')).toBe('acb');
  });
});

/** A clock on which every act takes a millisecond. */
class BusyClock extends TestClock {
  #busyMs = 0;
  readonly takeTurn = createTurns({
    now: () => this.#busyMs++,
    defer: (act) => void setImmediate(act),
    budgetMs: 8,
  });
}

/** Answers without a turn of the event loop. */
const immediateModel: ChatModel = {
  id: 'immediate',
  contextWindowTokens: 100_000,
  async *stream({ task }) {
    const text = JSON.stringify(replies[task as Task]);
    for (let at = 0; at < text.length; at += 20) yield { type: 'text-delta', text: text.slice(at, at + 20) };
    yield { type: 'finish', reason: 'stop', usage: null };
  },
};

it('many runs on a model that answers at once leave turns of the event loop to timers and other programs', async () => {
  const chain = createPostChain({ model: immediateModel, clock: new BusyClock() });
  const runs = Array.from({ length: 20 }, () => chain.run({ request: 'Is it so?' }));
  const written = (): number => runs.reduce((sum, { entries: journal }) => sum + journal.length, 0);
  let entries = written();
  let mostInATurn = 0;
  let isOver = false;
  const watch = (): void => {
    const now = written();
    mostInATurn = Math.max(mostInATurn, now - entries);
    entries = now;
    if (!isOver) setImmediate(watch);
  };
  watch();
  const answers = await Promise.all(runs.map(({ answer }) => answer));
  isOver = true;
  watch();
  expect(answers.every(({ status }) => status === 'completed')).toBe(true);
  // The steps of one run between two turns write fewer entries than a run has in all.
  expect(mostInATurn).toBeLessThan(runs[0]?.entries.length ?? 0);
});
