import { createActor, SimulatedClock } from 'xstate';
import * as z from 'zod';
import { actionMachine } from '../../machines/action/action.machine.ts';
import { initialActionState } from '../../machines/action/setup.ts';
import type { ActionInput, ActionState } from '../../machines/contracts/action-state.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { ActionReply, ActionResult } from '../../machines/contracts/phase-io.ts';
import { createPromptWriter } from '../../src/chain/journal/recorded-prompts.ts';
import { promptSpec } from '../../src/chain/prompts/prompt-spec.ts';
import { prompts } from '../../src/chain/prompts/registry.ts';
import { createActionActors } from '../../src/chain/runtime/actors.ts';
import { type ContinuationOption, deciderKind } from '../../src/chain/runtime/decider.ts';
import type { Clock } from '../../src/durable/clock.ts';
import { noopCallObserver, provideAttempt } from '../../src/llm/attempts/provide-attempt.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { type Capability, defineCapability } from '../../src/tools/capability.ts';
import { createRegistry } from '../../src/tools/registry.ts';
import { flush, POLICY } from './attempt-machine.ts';

/** What the action machine is started with: these capabilities, and a request. */
export function actionInput(capabilities: readonly string[], changes: Partial<ActionInput> = {}): ActionInput {
  const request = 'Write a note.';
  return {
    id: 's1.action',
    identity: 'r1',
    input: {
      phase: 'action',
      runId: 'r1',
      request,
      prompt: request,
      cycle: 1,
      step: 1,
      content: '',
      messages: [],
      capabilities: capabilities.map((name) => ({
        name,
        description: `It can ${name}.`,
        arguments: {},
        timeoutMs: null,
      })),
    },
    policy: { ...POLICY, maxCorrections: 0 },
    continuationPolicy: changes.policy ?? { ...POLICY, maxCorrections: 0 },
    decider: 'function',
    approver: 'user',
    approvalMs: null,
    maxContinuations: 5,
    maxParallelCalls: 4,
    maxSameCalls: 3,
    capabilityMs: 1_000,
    maxResultChars: 100_000,
    maxTokens: 1_000_000,
    sessionId: null,
    calls: [],
    ...changes,
  };
}

/** The attempt machine over a model that replies to Action with this; a further call fails. */
function attemptReplying(reply: ActionReply, clock: Clock) {
  const model = scriptedModel({ action: [{ reply }] });
  const specFor = ({ task }: { readonly task: string }) => promptSpec(prompts[task as Task]);
  const callScope = () => ({ clock, observer: noopCallObserver });
  return {
    model,
    attempt: provideAttempt({ models: [model], specFor, replyForm: 'text', callScope }),
  };
}

/** A loop as it begins, with these changes. */
export function anActionState(changes: Partial<ActionState> = {}): ActionState {
  return { ...initialActionState(actionInput(['draft', 'review'])), ...changes };
}

export interface CapabilityActionOptions {
  readonly capabilities?: readonly Capability[];
  readonly wish: { readonly capability: string; readonly arguments: string };
  readonly continuation?: ContinuationOption;
  readonly input?: Partial<ActionInput>;
}

/** The action machine over the product's own actors, capabilities and a model that wishes this. */
export function startActionWithCapabilities({
  capabilities = [],
  wish,
  continuation = 'none',
  input = {},
}: CapabilityActionOptions) {
  const clock = new SimulatedClock();
  const registry = createRegistry(capabilities);
  const { attempt, model } = attemptReplying({ response: 'Hi', confidence: 0.5, calls: [wish] }, clock);
  const scope = { clock, partial: () => {}, hasReaders: () => false, prompts: createPromptWriter() };
  const actor = createActor(
    actionMachine.provide({
      actors: {
        attempt,
        ...createActionActors({
          capabilities: registry,
          continuation,
          approval: 'never',
          approve: null,
          scopeOf: () => scope,
        }),
      },
    }),
    {
      clock,
      input: withDescriptors(actionInput([], { decider: deciderKind(continuation), ...input }), registry.descriptors),
    },
  );
  actor.subscribe({ error: () => {} });
  actor.start();
  return { actor, clock, model };
}

function withDescriptors(input: ActionInput, capabilities: ActionInput['input']['capabilities']): ActionInput {
  return { ...input, input: { ...input.input, capabilities } };
}

export async function actionResultOf(scene: CapabilityActionOptions): Promise<ActionResult> {
  const { actor } = startActionWithCapabilities(scene);
  await flush(500);
  const { output, value } = actor.getSnapshot();
  if (output?.ok !== true) throw new Error(`in ${JSON.stringify(value)}: ${JSON.stringify(output)}`);
  return output.value as ActionResult;
}

/** A capability called "work" that does this. */
export const workCapability = (execute: Capability['execute'], args: z.ZodType = z.object({})): Capability =>
  defineCapability({ name: 'work', description: 'Works.', arguments: args, execute });

/** The wish to run it with these arguments. */
export const workCall = (text = '{}') => ({ capability: 'work', arguments: text });
