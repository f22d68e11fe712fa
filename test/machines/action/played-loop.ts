import { isDeepStrictEqual } from 'node:util';
import { type AnyActorRef, createActor } from 'xstate';
import type { ActionState } from '../../../machines/contracts/action-state.ts';
import type { EmittedEvent } from '../../../machines/contracts/events.ts';
import { createActors } from '../../../src/engine/runtime/bare-chain.ts';
import { createCapabilityLoop } from '../../../src/engine/runtime/capability-loop.ts';
import { actionInput } from './action-rig.ts';
import { CAPABILITIES, type LoopPlan } from './loop-plan.ts';
import { PatientClock, runOut, turn } from './patient-clock.ts';
import { newlyNoted, plannedCapabilities, plannedDecider, plannedModel, spoken } from './planned-parts.ts';
import { type Outcome, REQUEST } from './reference-loop.ts';

export interface Played {
  readonly outcome: Outcome;
  /** What is wrong beside: timers, actors, signals, late answers, a state that is no JSON. */
  readonly leftovers: string[];
}

/** Plays a plan through the product: time passes only when nothing else happens. */
export async function playLoop(plan: LoopPlan): Promise<Played> {
  const clock = new PatientClock();
  const noted = newlyNoted();
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
  await runOut(isActive, clock, () => noted.events + facts.length);
  await started.ended;
  const { context } = actor.getSnapshot();
  const signals = [...noted.signals];
  for (const answer of noted.afterwards) answer();
  await turn();
  const leftovers = [
    clock.waiting > 0 && `${clock.waiting} timers`,
    refs().some((ref) => ref.getSnapshot().status === 'active') && 'an actor',
    signals.some(({ signal, isLate }) => isLate && !signal.aborted) && 'a late part that was not aborted',
    actor.getSnapshot().context !== context && 'a late answer that was taken',
    noted.executed.length > plan.maxContinuations && 'more runs than the limit',
    !isDeepStrictEqual(JSON.parse(JSON.stringify(context)), context) && 'a state that is no JSON',
  ].filter((found) => found !== false);
  return { outcome: outcomeOf(context, facts, noted), leftovers };
}

type Parts = Parameters<typeof createActors>[0];

function startLoop(plan: LoopPlan, parts: Parts) {
  const { maxContinuations, capabilityMs, maxCorrections, maxTransportRetries, maxCalls, maxTokens } = plan;
  const limits = { maxContinuations, capabilityMs, maxCorrections, maxTransportRetries, maxTokens };
  const loop = createCapabilityLoop({ ...parts, limits: { ...limits, maxModelCalls: maxCalls } });
  const call = plan.first.by === 'caller' ? spoken(plan.first.wish, false) : undefined;
  const { actor, journal, outcome } = loop.run({ request: REQUEST, ...(call && { call }) });
  return {
    actor,
    ended: outcome,
    facts: journal as readonly EmittedEvent[],
    refs: () => Object.values(actor.getSnapshot().children) as AnyActorRef[],
  };
}

function startMachine(plan: LoopPlan, parts: Parts) {
  const { decider, first, maxContinuations, capabilityMs, maxTokens } = plan;
  const given = actionInput(CAPABILITIES);
  const own = given.input.capabilities.map((one) => ({ ...one, timeoutMs: plan.ownMs[one.name as 'draft'] }));
  const { maxCorrections, maxTransportRetries, maxCalls } = plan;
  const step = first.by === 'caller' ? spoken(first.wish, true) : undefined;
  const input = {
    ...given,
    input: { ...given.input, request: REQUEST, capabilities: own },
    policy: { ...given.policy, maxCorrections, maxTransportRetries, maxCalls },
    call: step === undefined ? null : { capability: step.capability, arguments: String(step.arguments) },
    ...{ decider, maxContinuations, capabilityMs, maxTokens },
  };
  const facts: EmittedEvent[] = [];
  const refs: AnyActorRef[] = [];
  const actor = createActor(createActors(parts).action, {
    input,
    clock: parts?.clock as PatientClock,
    inspect: (event) => {
      if (event.type === '@xstate.actor') refs.push(event.actorRef as AnyActorRef);
    },
  });
  actor.on('*', (fact) => facts.push(fact));
  actor.start();
  return { actor, ended: Promise.resolve(), facts: facts as readonly EmittedEvent[], refs: () => refs };
}

type Seen = Pick<Outcome, 'executed' | 'asked' | 'tasks'>;

function outcomeOf(state: ActionState, facts: readonly EmittedEvent[], { executed, asked, tasks }: Seen): Outcome {
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
