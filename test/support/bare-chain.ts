import { createActor, SimulatedClock } from 'xstate';
import { createChainMachine } from '../../machines/chain/chain.machine.ts';
import type { ChainInput } from '../../machines/contracts/chain-state.ts';
import type { EmittedEvent } from '../../machines/contracts/events.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import { chainInput, createActors } from '../../src/engine/runtime/bare-chain.ts';
import { type ScriptEntry, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { settle } from '../../src/testing/settle.ts';
import type { Plan } from './run-chain.ts';

/**
 * The bare machine as somebody embeds it, started with an input that nobody checked; what the plan leaves out gets a valid reply.
 * `error` is what the machine broke with, where it did.
 */
export async function startBare(changes: Partial<ChainInput>, plan: Plan = {}) {
  const model = scriptedModel((request, call) => {
    const planned = plan[request.task as Task] ?? replies[request.task as Task];
    const entry = typeof planned === 'function' ? (planned as (call: number) => ScriptEntry)(call) : planned;
    return typeof entry === 'function' ? entry(request) : entry;
  });
  const clock = new SimulatedClock();
  const options = { model, clock, limits: { maxCycles: 3 } };
  const input = { ...chainInput({ request: 'When was the bridge opened?' }, options), ...changes };
  const actor = createActor(createChainMachine(createActors(options)), { input, clock });
  const facts: EmittedEvent[] = [];
  const broken: { error: unknown } = { error: null };
  actor.on('*', (fact) => facts.push(fact));
  actor.subscribe({
    error: (error) => {
      broken.error = error;
    },
  });
  actor.start();
  await settle(200);
  return { actor, clock, facts, model, broken, state: () => actor.getSnapshot().context };
}
