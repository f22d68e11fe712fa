import { isDeepStrictEqual } from 'node:util';
import { type AnyActorRef, createActor } from 'xstate';
import * as z from 'zod';
import type { ActionState } from '../../machines/contracts/action-state.ts';
import type { CapabilityCall } from '../../machines/contracts/capability.ts';
import type { EmittedEvent } from '../../machines/contracts/events.ts';
import type { ModelRequest } from '../../machines/contracts/model.ts';
import { createActors } from '../../src/chain/runtime/bare-chain.ts';
import { createCapabilityLoop } from '../../src/chain/runtime/capability-loop.ts';
import { type Decider, type DeciderReply, modelDecider, type NextStep } from '../../src/chain/runtime/decider.ts';
import { type ScriptedReply, scriptedModel } from '../../src/models/scripted.ts';
import { type Capability, defineCapability } from '../../src/tools/capability.ts';
import { actionInput } from './action-machine.ts';
import {
  type Behavior,
  CAPABILITIES,
  type LoopPlan,
  type ModelDecision,
  type Outcome,
  type PlannedStep,
  PROSE,
  plannedCall,
  REQUEST,
  RESPONSE,
} from './loop-reference.ts';
import { nextTurn, runToEnd, TestClock } from './simulated-clock.ts';

/** What the world noted of a loop while it ran. */
interface Observations extends Pick<Outcome, 'executed' | 'asked' | 'tasks'> {
  /** Everything that happened to the parts: while it grows, no time passes. */
  events: number;
  /** Signals of everything that began; none may be left waiting. */
  signals: { readonly signal: AbortSignal; readonly isLate: boolean }[];
  /** Answers that come when all is over. */
  afterwards: (() => void)[];
}

const createObservations = (): Observations => ({
  executed: [],
  asked: [],
  tasks: [],
  events: 0,
  signals: [],
  afterwards: [],
});

/** The capabilities of a plan. */
function plannedCapabilities(plan: LoopPlan, noted: Observations, clock: TestClock): Capability[] {
  return CAPABILITIES.map((name) =>
    defineCapability({
      name,
      description: `It can ${name}.`,
      arguments: z.object({ words: z.number().optional() }),
      execute(args, { signal }) {
        const behaviour = plan.behaviours[noted.executed.length] ?? ({ does: 'gives', value: 'ran' } as const);
        noted.executed.push(`${name} ${JSON.stringify(args)}`);
        noted.events += 1;
        return behave(behaviour, signal, noted, clock);
      },
    }),
  );
}

function behave(behaviour: Behavior, signal: AbortSignal, noted: Observations, clock: TestClock): unknown {
  const isLate = behaviour.does === 'hangs' || behaviour.does === 'answersWhenAborted';
  noted.signals.push({ signal, isLate });
  switch (behaviour.does) {
    case 'gives':
      return behaviour.value;
    case 'throws':
      throw behaviour.thrown;
    case 'takes':
      return new Promise((resolve) => {
        const timer = clock.setTimeout(() => resolve('at last'), behaviour.ms);
        signal.addEventListener('abort', () => clock.clearTimeout(timer), { once: true });
      });
    case 'hangs':
      return new Promise((resolve, reject) =>
        noted.afterwards.push(
          () => resolve('too late'),
          () => reject('too late'),
        ),
      );
    default:
      return new Promise((resolve, reject) =>
        signal.addEventListener('abort', () => (behaviour.rejects ? reject(new Error('gone')) : resolve('too late'))),
      );
  }
}

/** The decider of a plan; `remembered` says how many entries the memory has by now. */
function plannedDecider(plan: LoopPlan, noted: Observations, remembered: () => number): Decider {
  if (plan.decider === 'none') return null;
  if (plan.decider === 'model') return modelDecider;
  return async ({ results, runsLeft }, { signal }) => {
    const decision = plan.decisions[noted.asked.length] ?? ({ says: 'done' } as const);
    noted.asked.push({ steps: results.length, runsLeft, remembered: remembered() });
    noted.events += 1;
    noted.signals.push({ signal, isLate: decision.says === 'hangs' || decision.says === 'answersWhenAborted' });
    switch (decision.says) {
      case 'done':
        return { done: true, finalOutput: decision.finalOutput } as DeciderReply;
      case 'next':
        return { done: false, next: stepOfFunction(decision.wish, decision.asText) } as DeciderReply;
      case 'nonsense':
        return decision.value as DeciderReply;
      case 'throws':
        throw decision.thrown;
      case 'hangs':
        return new Promise((resolve) => noted.afterwards.push(() => resolve({ done: true, finalOutput: 'too late' })));
      default:
        return new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ done: true, finalOutput: 'too late' })),
        );
    }
  };
}

/** A wish as a function says it. */
function stepOfFunction(wish: PlannedStep, asText: boolean): NextStep | undefined {
  if (wish.kind === 'missing_name') return asText ? undefined : ({ arguments: {} } as never);
  const given = 'arguments' in wish ? wish.arguments : {};
  const isText = asText && typeof given === 'object' && given !== null && !Array.isArray(given);
  return { capability: wish.capability, arguments: (isText ? JSON.stringify(given) : given) as NextStep['arguments'] };
}

/** A wish as a model says it. */
function stepOfModel(wish: PlannedStep | null): readonly CapabilityCall[] {
  if (wish === null || wish.kind === 'missing_name') return [];
  const given = 'arguments' in wish ? wish.arguments : {};
  return [{ capability: wish.capability, arguments: typeof given === 'string' ? given : JSON.stringify(given) }];
}

/** The model of a plan: call by call as the plan says it goes. */
function plannedModel(plan: LoopPlan, noted: Observations, remembered: () => number) {
  let modelDecisions = 0;
  const replyTo = ({ task, input }: ModelRequest): ScriptedReply => {
    const { goes, ...tokens } = plannedCall(plan, noted.tasks.length);
    const usage = { ...tokens, estimated: false };
    noted.tasks.push(task);
    noted.events += 1;
    if (task === 'continuation') {
      const { steps, runsLeft } = input as { steps: unknown[]; runsLeft: number };
      noted.asked.push({ steps: steps.length, runsLeft, remembered: remembered() });
    }
    if (goes === 'prose') return { text: PROSE, replyForm: 'text', usage };
    if (goes === 'misfit') return { text: '{"done": "soon", "response": 5}', usage };
    if (goes === 'unavailable') return { failure: { code: 'server_error', status: 500 }, usage };
    if (goes === 'refused') return { failure: { code: 'unauthorized', retryable: false }, usage };
    if (goes === 'hangs') return { hang: true };
    const reply =
      task === 'action' ? firstReply(plan) : decisionReply(plan.modelDecisions[modelDecisions] ?? { says: 'done' });
    if (goes === 'cut') return { reply, cut: 3, usage };
    if (task !== 'action') modelDecisions += 1;
    return { reply, usage };
  };
  return scriptedModel(replyTo);
}

/** No plan repeats a call this often. */
const MANY = 1_000;

const firstReply = ({ first }: LoopPlan) => ({ response: RESPONSE, confidence: 0.5, calls: stepOfModel(first.wish) });

const decisionReply = (decision: ModelDecision) =>
  decision.says === 'done'
    ? { done: true, finalOutput: decision.finalOutput ?? null, next: [] }
    : { done: false, finalOutput: null, next: stepOfModel(decision.wish) };

export interface SimulatedLoop {
  readonly outcome: Outcome;
  /** What is wrong beside: timers, actors, signals, late answers, a state that is no JSON. */
  readonly leftovers: string[];
}

/** Plays a plan through the product: time passes only when nothing else happens. */
export async function runLoopPlan(plan: LoopPlan): Promise<SimulatedLoop> {
  const clock = new TestClock();
  const noted = createObservations();
  const remembered = (): number => started.actor.getSnapshot().context.memory.length;
  const parts = {
    clock,
    model: plannedModel(plan, noted, remembered),
    capabilities: plannedCapabilities(plan, noted, clock),
    decider: plannedDecider(plan, noted, remembered),
  };
  const started = plan.through === 'loop' ? startLoop(plan, parts) : startMachine(plan, parts);
  const { actor, facts, refs } = started;
  const isActive = (): boolean => actor.getSnapshot().status === 'active';
  await runToEnd(isActive, clock, () => noted.events + facts.length);
  await started.ended;
  const { context } = actor.getSnapshot();
  const signals = [...noted.signals];
  for (const answer of noted.afterwards) answer();
  await nextTurn();
  const leftovers = [
    clock.openTimers > 0 && `${clock.openTimers} timers`,
    refs().some((ref) => ref.getSnapshot().status === 'active') && 'an actor',
    signals.some(({ signal, isLate }) => isLate && !signal.aborted) && 'a late part that was not aborted',
    actor.getSnapshot().context !== context && 'a late answer that was taken',
    noted.executed.length > plan.maxContinuations && 'more runs than the limit',
    !isDeepStrictEqual(JSON.parse(JSON.stringify(context)), context) && 'a state that is no JSON',
  ].filter((found) => found !== false);
  return { outcome: outcomeOf(context, facts, noted), leftovers };
}

type LoopParts = Parameters<typeof createActors>[0];

function startLoop(plan: LoopPlan, parts: LoopParts) {
  const { maxContinuations, capabilityMs, maxCorrections, maxTransportRetries, maxCalls, maxTokens } = plan;
  const limits = { maxContinuations, capabilityMs, maxCorrections, maxTransportRetries, maxTokens };
  const loop = createCapabilityLoop({ ...parts, limits: { ...limits, maxModelCalls: maxCalls, maxSameCalls: MANY } });
  const call = plan.first.by === 'caller' ? stepOfFunction(plan.first.wish, false) : undefined;
  const { actor, journal, outcome } = loop.run({ request: REQUEST, ...(call && { call }) });
  return {
    actor,
    ended: outcome,
    facts: journal as readonly EmittedEvent[],
    refs: () => Object.values(actor.getSnapshot().children) as AnyActorRef[],
  };
}

function startMachine(plan: LoopPlan, parts: LoopParts) {
  const { decider, first, maxContinuations, capabilityMs, maxTokens } = plan;
  const given = actionInput(CAPABILITIES);
  const own = given.input.capabilities.map((one) => ({ ...one, timeoutMs: plan.ownMs[one.name as 'draft'] }));
  const { maxCorrections, maxTransportRetries, maxCalls } = plan;
  const budgets = { maxCorrections, maxTransportRetries, maxCalls };
  const policy = { ...given.policy, triesReplyForms: true, maxHungCalls: 2, ...budgets };
  const step = first.by === 'caller' ? stepOfFunction(first.wish, true) : undefined;
  const input = {
    ...given,
    input: { ...given.input, request: REQUEST, capabilities: own },
    policy,
    continuationPolicy: policy,
    calls: step === undefined ? [] : [{ capability: step.capability, arguments: String(step.arguments) }],
    maxSameCalls: MANY,
    decider,
    maxContinuations,
    capabilityMs,
    maxTokens,
  };
  const facts: EmittedEvent[] = [];
  const refs: AnyActorRef[] = [];
  const actor = createActor(createActors(parts).action, {
    input,
    clock: parts?.clock as TestClock,
    inspect: (event) => {
      if (event.type === '@xstate.actor') refs.push(event.actorRef as AnyActorRef);
    },
  });
  actor.on('*', (fact) => facts.push(fact));
  actor.start();
  return { actor, ended: Promise.resolve(), facts: facts as readonly EmittedEvent[], refs: () => refs };
}

type SeenCalls = Pick<Outcome, 'executed' | 'asked' | 'tasks'>;

function outcomeOf(state: ActionState, facts: readonly EmittedEvent[], { executed, asked, tasks }: SeenCalls): Outcome {
  const { results, memory, reply, stopReason, failure, execution } = state;
  const { modelCalls, inputTokens, outputTokens, estimated } = execution.usage;
  const of = <T extends EmittedEvent['type']>(type: T) =>
    facts.filter((fact) => fact.type === type) as Extract<EmittedEvent, { type: T }>[];
  const stopped = of('capability-stop').at(-1);
  let entry = 0;
  return {
    stopReason: failure === null ? stopReason : 'no_reply',
    code: stopped?.reason === 'invalid_next_step' ? stopped.code : null,
    response: reply?.response ?? '',
    results: results.map(({ code, error, startedAtMs: _, sessionId: __, ...result }) => ({
      ...result,
      code,
      error: code !== 'threw' ? null : error === 'an error without a message' ? 'some words' : error,
    })),
    memory: memory.map((one) => {
      if (one.role === 'user') return one;
      const { capability, success, summary } = one;
      const why = results[entry++]?.error;
      return { role: 'assistant', capability, said: !success && summary === why ? 'why it failed' : summary };
    }),
    executed,
    asked,
    tasks: modelCalls === tasks.length ? tasks : [`${modelCalls} were counted`],
    tokens: estimated ? 'estimated' : { inputTokens, outputTokens },
    started: of('capability-start').map(({ index }) => index),
    ended: of('capability-end').map(({ index }) => index),
    decided: of('continuation').map(({ index, done }) => ({ index, done })),
    stopped: stopped ? { runs: stopped.runs, failed: stopped.failed, capabilityMs: stopped.capabilityMs } : null,
  };
}
