import { describe, expect, it } from 'vitest';
import type { ContinuationOption } from '../../../../src/chain/runtime/decider.ts';
import { replies } from '../../../../src/testing/replies.ts';
import {
  capabilityNamed,
  entriesOf,
  type Plan,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const step = (capability: string) => ({ capability, arguments: '{}' });
const draft = { ...replies.action, calls: [step('draft')] };
const review = { done: false, finalOutput: null, next: [step('review')] } as const;
const unsure = (call: number) => unsureAnswer(call);

/** A run with a capability in every cycle; no rule but the cycle limit ends it. */
function startLoops(decider: ContinuationOption, plan: Plan = {}, more: object = {}, run: object = {}) {
  const capabilities = ['draft', 'review'].map((name) => capabilityNamed(name));
  const options = { capabilities, continuation: decider, thresholds: { crowdedMessages: 1_000 }, ...more };
  const started = startScripted({ action: draft, yield: unsure, ...plan }, options, run);
  const callsOf = (task: string) => started.model.calls.filter((call) => call.task === task);
  const ran = () => entriesOf(started.run, 'capability-end').map(({ result }) => result.capability);
  return { ...started, callsOf, ran };
}

describe('a direction of the user', () => {
  it('[R1] [Y4] to Action with a prompt is classified again; without one it is not', async () => {
    const { run, callsOf } = startLoops(() => ({ done: true }), {}, {}, { mode: 'manual' });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'action' });
    await settle();
    expect(callsOf('action')).toHaveLength(1);
    sendAnswer(run, { type: 'run.directed', phase: 'action', prompt: 'Draft it again, shorter.' });
    await settle();
    expect(callsOf('action').map(({ input }) => (input as { prompt: string }).prompt)).toEqual([
      'Is it so?',
      'Draft it again, shorter.',
    ]);
    run.send({ type: 'run.finished' });
    await run.answer;
  });

  it('[R3] [Y4] does not get more capability runs than the request has left', async () => {
    const { run, ran } = startLoops(() => review, {}, { limits: { maxContinuations: 2 } }, { mode: 'manual' });
    await settle();
    sendAnswer(run, { type: 'run.directed', phase: 'action', prompt: 'Again.' });
    await settle();
    run.send({ type: 'run.finished' });
    await run.answer;
    expect(ran()).toEqual(['draft', 'review']);
    expect(entriesOf(run, 'capability-stop').at(-1)).toMatchObject({ reason: 'limit_reached', runs: 2 });
  });
});

describe('directions within a cycle', () => {
  const hanging: Plan = { intention: { hang: true } };
  const direct = async ({ run }: { run: ReturnType<typeof startScripted>['run'] }, times: number) => {
    for (let sent = 0; sent < times; sent += 1) {
      await settle();
      sendAnswer(run, { type: 'run.directed', phase: 'intention' });
    }
    await settle();
  };

  it('[Y2] [Y6] back to a phase begin the next cycle, and are recorded as decisions', async () => {
    const started = startScripted(hanging);
    await direct(started, 2);
    const { run } = started;
    expect(entriesOf(run, 'phase-start').map(({ phase, cycle }) => `${cycle} ${phase}`)).toEqual([
      '1 action',
      '1 experience',
      '1 intention',
      '2 intention',
      '3 intention',
    ]);
    expect(entriesOf(run, 'decision').map(({ decision }) => decision)).toMatchObject([
      { cycle: 1, rule: 'directedByUser', nextPhase: 'intention', complete: false },
      { cycle: 2, rule: 'directedByUser', nextPhase: 'intention', complete: false },
    ]);
    run.cancel();
    expect((await run.answer).metadata.cycles).toBe(2);
  });
});
