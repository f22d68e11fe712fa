import { describe, expect, it } from 'vitest';
import { type Decider, modelDecider } from '../../../../src/chain/runtime/decider.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { loopCapability } from '../../../support/capability-loops.ts';
import {
  entriesOf,
  type Plan,
  phasesOf,
  sendAnswer,
  settle,
  startScripted,
  unsureAnswer,
} from '../../../support/run-chain.ts';

const step = (capability: string) => ({ capability, arguments: '{}' });
const draft = { ...replies.action, calls: [step('draft')] };
const review = { done: false, finalOutput: null, next: [step('review')] } as const;
const done = { done: true, finalOutput: null, next: [] } as const;
const unsure = (call: number) => unsureAnswer(call);

/** A run with a capability in every cycle; no rule but the cycle limit ends it. */
function startLoops(decider: Decider, plan: Plan = {}, more: object = {}, run: object = {}) {
  const capabilities = ['draft', 'review'].map((name) => loopCapability(name));
  const options = { capabilities, decider, thresholds: { crowdedMessages: 1_000 }, ...more };
  const started = startScripted({ action: draft, yield: unsure, ...plan }, options, run);
  const callsOf = (task: string) => started.model.calls.filter((call) => call.task === task);
  const ran = () => entriesOf(started.run, 'capability-end').map(({ result }) => result.capability);
  return { ...started, callsOf, ran };
}

describe('a request of several cycles', () => {
  it('[R1] is classified once', async () => {
    const { run, callsOf, ran } = startLoops(() => ({ done: true }));
    const { metadata } = await run.answer;
    expect(metadata.cycles).toBe(5);
    expect(phasesOf(run).filter((phase) => phase === 'action')).toHaveLength(5);
    expect(callsOf('action')).toHaveLength(1);
    expect(ran()).toEqual(['draft']);
  });

  it('[R3] runs at most `maxContinuations` capabilities in all its cycles', async () => {
    const { run, ran } = startLoops(({ results }) => (results.length % 2 === 0 ? { done: true } : review));
    await run.answer;
    expect(ran()).toEqual(['draft', 'review', 'review', 'review', 'review'].slice(0, ran().length));
    const decided = startLoops(() => review);
    await decided.run.answer;
    expect(decided.ran()).toEqual(['draft', 'review', 'review', 'review', 'review']);
    const stops = entriesOf(decided.run, 'capability-stop').map(({ reason, runs }) => `${reason} ${runs}`);
    expect(stops).toEqual(Array(5).fill('limit_reached 5'));
  });

  it('[R2] [R3] continues its loop in a later cycle, and the decider gets all results and the runs left', async () => {
    const asked: string[] = [];
    const decide: Decider = ({ results, runsLeft }) => {
      asked.push(`${results.map(({ capability }) => capability).join(' ')}, ${runsLeft} left`);
      return asked.length % 2 === 0 ? review : { done: true };
    };
    const { run, ran } = startLoops(decide, {}, { limits: { maxCycles: 3 } });
    await run.answer;
    expect(asked).toEqual([
      'draft, 4 left',
      'draft, 4 left',
      'draft review, 3 left',
      'draft review, 3 left',
      'draft review review, 2 left',
    ]);
    expect(ran()).toEqual(['draft', 'review', 'review']);
    expect(entriesOf(run, 'capability-start').map(({ index }) => index)).toEqual([1, 2, 3]);
    expect(entriesOf(run, 'capability-end').map(({ index }) => index)).toEqual([1, 2, 3]);
  });

  it('[C4] [R1] shows the deciding model what Yield found missing', async () => {
    const { run, callsOf } = startLoops(
      modelDecider,
      { continuation: done, experience: { ...replies.experience, missing: ['the date'] } },
      { limits: { maxCycles: 2 } },
    );
    await run.answer;
    const requests = callsOf('continuation').map(({ input }) => (input as { request: string }).request);
    expect(requests[0]).toBe('Is it so?');
    expect(requests[1]).toMatch(/^Is it so\?\n.*Still missing: the date\.$/s);
  });

  it('[R1] [R6] lets the deciding model name a capability that the classification did not', async () => {
    const continuations = (call: number) => (call === 1 ? review : done);
    const { run, callsOf, ran } = startLoops(
      modelDecider,
      { action: replies.action, continuation: continuations },
      { limits: { maxCycles: 2 } },
    );
    await run.answer;
    expect(ran()).toEqual(['review']);
    expect(callsOf('action')).toHaveLength(1);
    expect(entriesOf(run, 'capability-stop').map(({ reason }) => reason)).toEqual(['nothing_to_run', 'done']);
  });

  it('[R1] does not ask a deciding function for a first capability', async () => {
    let asked = 0;
    const { run } = startLoops(
      () => {
        asked += 1;
        return { done: true };
      },
      { action: replies.action },
    );
    await run.answer;
    expect(asked).toBe(0);
  });

  it('[R4] is remembered with the user message once and one entry per run', async () => {
    const { run } = startLoops(({ results }) => (results.length < 3 ? review : { done: true }));
    await run.answer;
    expect(
      run.actor
        .getSnapshot()
        .context.results.action?.memory.map((entry) => (entry.role === 'user' ? entry.content : entry.capability)),
    ).toEqual(['Is it so?', 'draft', 'review', 'review']);
  });
});

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

  it('[Y2] are refused when the cycle limit leaves no cycle, and the current cycle continues', async () => {
    const started = startScripted(hanging, { limits: { maxCycles: 3 } });
    await direct(started, 20);
    const { run } = started;
    expect(phasesOf(run).filter((phase) => phase === 'intention')).toHaveLength(3);
    const refusals = entriesOf(run, 'direction-refused').map(({ received, reason }) => `${received}: ${reason}`);
    expect(refusals).toEqual(Array(18).fill('intention: cycle_limit'));
    expect(run.actor.getSnapshot().value).toEqual({ cycling: { intention: 'calling' } });
    run.cancel();
    await run.answer;
  });

  it('[Y4] to a later phase skip ahead in the cycle', async () => {
    const started = startScripted(hanging, { limits: { maxCycles: 1 } });
    await settle();
    sendAnswer(started.run, { type: 'run.directed', phase: 'yield' });
    expect((await started.run.answer).metadata.cycles).toBe(1);
    expect(phasesOf(started.run)).toEqual(['action', 'experience', 'intention', 'yield']);
  });
});
