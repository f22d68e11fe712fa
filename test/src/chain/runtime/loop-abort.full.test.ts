import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCapabilityLoop } from '../../../../src/chain/runtime/capability-loop.ts';
import { createPostChain } from '../../../../src/entries/index.ts';
import { always, scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  HANGING_STAGES,
  LOOP_HOSTS,
  loopCapability,
  REQUEST,
  startHangingLoop,
} from '../../../support/capability-loops.ts';
import { nextTurn, TestClock } from '../../../support/simulated-clock.ts';

const unhandled: unknown[] = [];
const note = (error: unknown): void => void unhandled.push(error);
beforeEach(() => void process.on('unhandledRejection', note));
afterEach(() => {
  process.off('unhandledRejection', note);
  expect(unhandled.splice(0)).toEqual([]);
});

const HOW = ['its signal', 'cancel'] as const;
const cases = LOOP_HOSTS.flatMap((way) => HANGING_STAGES.flatMap((stage) => HOW.map((how) => ({ way, stage, how }))));

describe('aborting', () => {
  it.each(cases)('$way by $how during $stage stops it immediately and cleans up', async ({ way, stage, how }) => {
    const controller = new AbortController();
    const stuck = await startHangingLoop(way, stage, controller.signal);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
    const part = stuck.signal();
    expect(part?.aborted).toBe(stage === 'validating' ? undefined : false);

    if (how === 'cancel') stuck.abort();
    else controller.abort();
    if (stage !== 'validating') expect(part?.aborted).toBe(true);

    const { said } = await stuck.ended;
    expect(said).toBe(way === 'the loop alone' ? 'aborted' : how === 'cancel' ? 'cancelled' : 'degraded');
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(stuck.clock.openTimers).toBe(0);

    const before = [stuck.entries(), stuck.calls(), stuck.ran()];
    stuck.answerLate(true);
    for (let turns = 0; turns < 5; turns += 1) await nextTurn();
    expect([stuck.entries(), stuck.calls(), stuck.ran()]).toEqual(before);
    expect(stuck.ran()).toBe(stage === 'validating' || stage === 'classifying' ? 0 : 1);
  });

  it.each(cases)(
    '$way by $how during $stage causes no unhandled rejection if it fails later',
    async ({ way, stage, how }) => {
      const controller = new AbortController();
      const stuck = await startHangingLoop(way, stage, controller.signal);
      if (how === 'cancel') stuck.abort();
      else controller.abort();
      await stuck.ended;
      stuck.answerLate(false);
      for (let turns = 0; turns < 5; turns += 1) await nextTurn();
      expect(unhandled).toEqual([]);
    },
  );
});

describe('aborting from within', () => {
  it.each(LOOP_HOSTS)('%s: a capability or a decider can end its own run', async (way) => {
    for (const from of ['capability', 'decider']) {
      const controller = new AbortController();
      const end = () => controller.abort();
      const parts = {
        model: scriptedModel(
          {},
          {
            otherwise: { ...replies, action: { ...replies.action, calls: [{ capability: 'draft', arguments: '{}' }] } },
          },
        ),
        clock: new TestClock(),
        capabilities: [loopCapability('draft', () => (from === 'capability' ? end() : 'x'))],
        decider: () => {
          end();
          return { done: true } as const;
        },
      };
      const asked = { request: REQUEST, signal: controller.signal };
      const said =
        way === 'the chain'
          ? (await createPostChain(parts).run(asked).answer).metadata.reason
          : (await createCapabilityLoop(parts).run(asked).outcome).stopReason;
      expect(said).toBe(way === 'the chain' ? 'interrupted' : 'aborted');
      expect(parts.clock.openTimers).toBe(0);
    }
  });
});

describe('a signal shared by many runs', () => {
  it.each(LOOP_HOSTS)('%s: has at most one listener during 100 consecutive runs and none afterward', async (way) => {
    const controller = new AbortController();
    const clock = new TestClock();
    const model = scriptedModel({ action: always({ hang: true }) });
    const draft = loopCapability('draft', () => new Promise(() => {}));
    const parts = { model, clock, capabilities: [draft] };
    const asked = { request: REQUEST, signal: controller.signal };
    const call = { capability: 'draft', arguments: {} };
    const [chain, loop] = [createPostChain(parts), createCapabilityLoop(parts)];
    let most = 0;
    for (let count = 0; count < 100; count += 1) {
      const run = way === 'the chain' ? chain.run(asked) : loop.run({ ...asked, call });
      if (count % 10 === 0) await nextTurn();
      most = Math.max(most, getEventListeners(controller.signal, 'abort').length);
      run.cancel();
      await ('answer' in run ? run.answer : run.outcome);
      expect(clock.openTimers).toBe(0);
    }
    expect([most, getEventListeners(controller.signal, 'abort').length]).toEqual([1, 0]);
  });
});
