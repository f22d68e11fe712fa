import { createActor, fromPromise, SimulatedClock } from 'xstate';
import * as z from 'zod';
import { actionMachine } from '../../machines/action/action.machine.ts';
import type {
  DecideContinuationInput,
  ExecuteCapabilityInput,
  ValidateArgumentsInput,
} from '../../machines/action/actors.ts';
import { initialActionState } from '../../machines/action/setup.ts';
import type { ActionInput, ActionState } from '../../machines/contracts/action-state.ts';
import type {
  ArgumentsCheck,
  CapabilityCall,
  CapabilityRunResult,
  Continuation,
} from '../../machines/contracts/capability.ts';
import type { EmittedEvent } from '../../machines/contracts/events.ts';
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

type ScriptedAnswer<Input, Output> = (input: Input, call: number) => Output | Promise<Output>;

interface StartActionOptions {
  /** What the model says; a value that does not fit is a model that fails. */
  readonly reply?: unknown;
  readonly validate?: ScriptedAnswer<CapabilityCall, ArgumentsCheck>;
  readonly execute?: ScriptedAnswer<ExecuteCapabilityInput, CapabilityRunResult>;
  readonly decide?: ScriptedAnswer<DecideContinuationInput, Continuation>;
  /** What the model says as the decider, call by call. */
  readonly continuations?: readonly unknown[];
  readonly input?: Partial<ActionInput>;
  readonly capabilities?: readonly string[];
}

export const call = (capability: string, args: unknown = {}): CapabilityCall => ({
  capability,
  arguments: JSON.stringify(args),
});

export const actionReply = (wish: CapabilityCall | null): ActionReply => ({
  response: 'Hi',
  confidence: 0.5,
  calls: wish === null ? [] : [wish],
});
export const next = (capability: string, args: unknown = {}): { done: false; next: readonly CapabilityCall[] } => ({
  done: false,
  next: [call(capability, args)],
});
export const done = (finalOutput: string | null = null): Continuation => ({ done: true, finalOutput });

/** What a capability of this name gives. */
function capabilityResult(
  input: ExecuteCapabilityInput,
  changes: Partial<CapabilityRunResult> = {},
): CapabilityRunResult {
  const output = `${input.capability} ran`;
  const { maxResultChars: _max, runId: _run, id: _id, ...called } = input;
  return {
    ...called,
    success: true,
    output,
    code: null,
    error: null,
    synthesized: false,
    startedAtMs: 1,
    durationMs: 2,
    ...changes,
  };
}

/** What the action machine is started with: these capabilities, and a request. */
export function actionInput(capabilities: readonly string[], changes: Partial<ActionInput> = {}): ActionInput {
  const request = 'Write a note.';
  return {
    id: 's1.action',
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

/** The attempt machine over a model that says this one thing, and these as the decider; a further call would be a mistake and fails. */
function attemptReplying(reply: unknown, clock: Clock, continuations: readonly unknown[] = []) {
  const model = scriptedModel({
    action: [{ reply }],
    continuation: continuations.map((continuation) => ({ reply: continuation })),
  });
  const specFor = ({ task }: { readonly task: string }) => promptSpec(prompts[task as Task]);
  const callScope = () => ({ clock, observer: noopCallObserver });
  return {
    model,
    attempt: provideAttempt({ models: [model], specFor, replyForm: 'text', callScope }),
  };
}

/** The action machine, started, over a scripted model, scripted capabilities and a scripted decider. */
export function startAction({
  reply = actionReply(call('draft')),
  validate = () => ({ ok: true, arguments: {}, needsApproval: false }),
  execute = (input) => capabilityResult(input),
  decide = () => done(),
  continuations = [],
  input = {},
  capabilities = ['draft', 'review', 'summarize'],
}: StartActionOptions = {}) {
  const clock = new SimulatedClock();
  const facts: EmittedEvent[] = [];
  const contexts: ActionState[] = [];
  const asked = {
    validate: [] as CapabilityCall[],
    execute: [] as ExecuteCapabilityInput[],
    decide: [] as DecideContinuationInput[],
  };
  const aborted: string[] = [];
  const { model, attempt } = attemptReplying(reply, clock, continuations);
  const actors = {
    attempt,
    validateArguments: fromPromise<readonly ArgumentsCheck[], ValidateArgumentsInput>(({ input: { calls } }) =>
      Promise.all(calls.map((wish) => validate(wish, asked.validate.push(wish)))),
    ),
    executeCapability: fromPromise<CapabilityRunResult, ExecuteCapabilityInput>(async ({ input: wish, signal }) => {
      signal.addEventListener('abort', () => aborted.push(wish.capability), { once: true });
      return execute(wish, asked.execute.push(wish));
    }),
    decideContinuation: fromPromise<unknown, DecideContinuationInput>(async ({ input: seen }) =>
      decide(seen, asked.decide.push(seen)),
    ),
  };
  const actor = createActor(actionMachine.provide({ actors }), { input: actionInput(capabilities, input), clock });
  actor.on('*', (fact) => facts.push(fact));
  actor.subscribe({ next: ({ context }) => contexts.push(context), error: () => {} });
  actor.start();
  return {
    actor,
    clock,
    model,
    facts,
    contexts,
    asked,
    aborted,
    settle: () => flush(500),
    /** What it came to; throws while it runs or when it failed. */
    async result(): Promise<Omit<ActionResult, 'phase' | 'step'>> {
      await flush(500);
      const { output, value, status } = actor.getSnapshot();
      if (output?.ok !== true) throw new Error(`${status} in ${JSON.stringify(value)}: ${JSON.stringify(output)}`);
      return output.value as ActionResult;
    },
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
  const { attempt, model } = attemptReplying(actionReply(wish), clock);
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
