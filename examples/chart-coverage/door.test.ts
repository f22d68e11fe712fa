import { collectCoverage, reportCoverage, SimulatedClock } from 'postchain/testing';
import { afterAll, expect, it } from 'vitest';
import { createActor, fromPromise, waitFor } from 'xstate';
import { door } from './door.ts';

const coverage = collectCoverage([door]);
afterAll(reportCoverage(coverage));

function closed(turnKey: () => Promise<boolean>, clock = new SimulatedClock()) {
  const machine = door.provide({ actors: { turnKey: fromPromise(turnKey) } });
  const actor = createActor(machine, { clock, inspect: coverage.inspect }).start();
  actor.send({ type: 'close' });
  return actor;
}

it('locks with its key, and opens when unlocked', async () => {
  const actor = closed(async () => true);
  await waitFor(actor, (state) => state.matches('locked'));
  actor.send({ type: 'unlock' });
  expect(actor.getSnapshot().value).toBe('open');
});

it('opens again if the key breaks', async () => {
  const actor = closed(() => Promise.reject(new Error('broken')));
  await waitFor(actor, (state) => state.matches('open'));
});

it('opens again if the key takes too long', () => {
  const clock = new SimulatedClock();
  const actor = closed(() => new Promise(() => {}), clock);
  clock.increment(5_000);
  expect(actor.getSnapshot().value).toBe('open');
});
