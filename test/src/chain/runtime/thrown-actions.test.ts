import { expect, it } from 'vitest';
import { createActor, fromCallback, SimulatedClock } from 'xstate';
import { initialActionState } from '../../../../machines/action/setup.ts';
import type { ActionInput } from '../../../../machines/contracts/action-state.ts';
import type { EmittedEvent } from '../../../../machines/contracts/events.ts';
import { createBareChain } from '../../../../src/chain/runtime/bare-chain.ts';
import { scriptedModel } from '../../../../src/models/scripted.ts';
import { replies } from '../../../../src/testing/replies.ts';
import { settle } from '../../../../src/testing/settle.ts';
import { aCapabilityResult } from '../../../support/contract-samples.ts';

it('[R7] [Y9] an Action whose actor throws keeps the results of its finished capability runs', async () => {
  const options = { model: scriptedModel({}, { otherwise: replies }), clock: new SimulatedClock() };
  const throwing = fromCallback<never, ActionInput>(({ input, sendBack }) => {
    const loop = initialActionState(input);
    const results = [aCapabilityResult({ capability: 'draft', output: 'a draft' })];
    sendBack({ type: 'loop.progressed', loop: { ...loop, begun: 1, runs: 1, results } });
    throw new Error('the loop is broken');
  });
  const chain = createBareChain(options);
  const machine = chain.createMachine().provide({ actors: { action: throwing as never } });
  const actor = createActor(machine, { input: chain.createInput({ request: 'Is it so?' }), clock: options.clock });
  const emitted: EmittedEvent[] = [];
  actor.on('*', (event) => void emitted.push(event));
  actor.start();
  await settle(300);
  const { results, failures } = actor.getSnapshot().context;
  expect(failures).toMatchObject([{ phase: 'action', failure: { message: 'the loop is broken' } }]);
  expect(results.action).toMatchObject({ stopReason: 'aborted', results: [{ capability: 'draft', success: true }] });
  const phases = emitted.flatMap((event) => (event.type === 'phase-start' ? [event.phase] : []));
  expect(phases.slice(0, 2)).toEqual(['action', 'experience']);
  expect(emitted.filter(({ type }) => type === 'capability-stop')).toHaveLength(1);
});
