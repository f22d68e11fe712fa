import { createActor, SimulatedClock } from 'xstate';
import { z } from 'zod';
import { actionMachine } from '../../../machines/action/action.machine.ts';
import type { ActionInput } from '../../../machines/contracts/action-state.ts';
import type { ActionResult } from '../../../machines/contracts/phase-io.ts';
import { inlineDispatcher } from '../../../src/engine/activities.ts';
import { createActionActors } from '../../../src/engine/runtime/actors.ts';
import { type Decider, deciderKind, noopDecider } from '../../../src/engine/runtime/decider.ts';
import { type Capability, defineCapability } from '../../../src/tools/capability.ts';
import { createRegistry } from '../../../src/tools/registry.ts';
import { actionInput, attemptSaying, saying } from '../../machines/action/action-rig.ts';
import { flush } from '../../machines/attempt/attempt-rig.ts';

export interface Scene {
  readonly capabilities?: readonly Capability[];
  readonly wish: { readonly capability: string; readonly arguments: string };
  readonly decider?: Decider;
  readonly input?: Partial<ActionInput>;
}

/** The action machine over the product's own actors, capabilities and a model that wishes this. */
export function start({ capabilities = [], wish, decider = noopDecider, input = {} }: Scene) {
  const clock = new SimulatedClock();
  const registry = createRegistry(capabilities);
  const { attempt, model } = attemptSaying(saying(wish), clock);
  const actor = createActor(
    actionMachine.provide({
      actors: {
        attempt,
        ...createActionActors({ capabilities: registry, decider, clock, dispatcher: inlineDispatcher }),
      },
    }),
    {
      clock,
      input: withDescriptors(actionInput([], { decider: deciderKind(decider), ...input }), registry.descriptors),
    },
  );
  actor.subscribe({ error: () => {} });
  actor.start();
  return { actor, clock, model };
}

function withDescriptors(input: ActionInput, capabilities: ActionInput['input']['capabilities']): ActionInput {
  return { ...input, input: { ...input.input, capabilities } };
}

export async function resultOf(scene: Scene): Promise<ActionResult> {
  const { actor } = start(scene);
  await flush(500);
  const { output, value } = actor.getSnapshot();
  if (output?.ok !== true) throw new Error(`in ${JSON.stringify(value)}: ${JSON.stringify(output)}`);
  return output.value as ActionResult;
}

/** A capability called "work" that does this. */
export const capability = (execute: Capability['execute'], args: z.ZodType = z.object({})): Capability =>
  defineCapability({ name: 'work', description: 'Works.', arguments: args, execute });

/** The wish to run it with these arguments. */
export const work = (text = '{}') => ({ capability: 'work', arguments: text });
