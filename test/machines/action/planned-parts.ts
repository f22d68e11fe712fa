import { z } from 'zod';
import type { ModelRequest } from '../../../machines/contracts/model.ts';
import type { Decider, DeciderReply, NextStep } from '../../../src/engine/runtime/decider.ts';
import { modelDecider } from '../../../src/engine/runtime/decider.ts';
import { type ScriptedReply, scriptedModel } from '../../../src/models/scripted.ts';
import { type Capability, defineCapability } from '../../../src/tools/capability.ts';
import { type Behaviour, CAPABILITIES, type LoopPlan, type Thought, type Wish } from './loop-plan.ts';
import type { PatientClock } from './patient-clock.ts';
import { callOf, type Outcome, RESPONSE } from './reference-loop.ts';

/** What the world noted of a loop while it ran. */
export interface Noted extends Pick<Outcome, 'executed' | 'asked' | 'tasks'> {
  /** Everything that happened to the parts: while it grows, no time passes. */
  events: number;
  /** Signals of everything that began; none may be left waiting. */
  signals: { readonly signal: AbortSignal; readonly isLate: boolean }[];
  /** Answers that come when all is over. */
  afterwards: (() => void)[];
}

export const newlyNoted = (): Noted => ({
  executed: [],
  asked: [],
  tasks: [],
  events: 0,
  signals: [],
  afterwards: [],
});

/** The capabilities of a plan. */
export function plannedCapabilities(plan: LoopPlan, noted: Noted, clock: PatientClock): Capability[] {
  return CAPABILITIES.map((name) =>
    defineCapability({
      name,
      description: `It can ${name}.`,
      arguments: z.object({ words: z.number().optional() }),
      execute(args, { signal }) {
        const behaviour = plan.behaviours[noted.executed.length] ?? ({ does: 'gives', value: 'ran' } as const);
        noted.executed.push(`${name} ${JSON.stringify(args)}`);
        noted.events += 1;
        return play(behaviour, signal, noted, clock);
      },
    }),
  );
}

function play(behaviour: Behaviour, signal: AbortSignal, noted: Noted, clock: PatientClock): unknown {
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
export function plannedDecider(plan: LoopPlan, noted: Noted, remembered: () => number): Decider {
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
        return { done: false, next: spoken(decision.wish, decision.asText) } as DeciderReply;
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
export function spoken(wish: Wish, asText: boolean): NextStep | undefined {
  if (wish.kind === 'missing_name') return asText ? undefined : ({ arguments: {} } as never);
  const given = 'arguments' in wish ? wish.arguments : {};
  const isText = asText && typeof given === 'object' && given !== null && !Array.isArray(given);
  return { capability: wish.capability, arguments: (isText ? JSON.stringify(given) : given) as NextStep['arguments'] };
}

/** A wish as a model says it. */
function written(wish: Wish | null) {
  if (wish === null || wish.kind === 'missing_name') return null;
  const given = 'arguments' in wish ? wish.arguments : {};
  return { capability: wish.capability, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
}

/** The model of a plan: call by call as the plan says it goes. */
export function plannedModel(plan: LoopPlan, noted: Noted, remembered: () => number) {
  let thoughts = 0;
  const replyTo = ({ task, input }: ModelRequest): ScriptedReply => {
    const { goes, ...tokens } = callOf(plan, noted.tasks.length);
    const usage = { ...tokens, estimated: false };
    noted.tasks.push(task);
    noted.events += 1;
    if (task === 'continuation') {
      const { steps, runsLeft } = input as { steps: unknown[]; runsLeft: number };
      noted.asked.push({ steps: steps.length, runsLeft, remembered: remembered() });
    }
    if (goes === 'prose') return { text: 'Let me think about it.', usage };
    if (goes === 'misfit') return { text: '{"done": "soon", "response": 5}', usage };
    if (goes === 'unavailable') return { failure: { code: 'server_error', status: 500 }, usage };
    if (goes === 'refused') return { failure: { code: 'unauthorized', retryable: false }, usage };
    if (goes === 'hangs') return { hang: true };
    const reply = task === 'action' ? firstReply(plan) : thoughtReply(plan.thoughts[thoughts] ?? { says: 'done' });
    if (goes === 'cut') return { reply, cut: 3, usage };
    if (task !== 'action') thoughts += 1;
    return { reply, usage };
  };
  return scriptedModel(replyTo);
}

const firstReply = ({ first }: LoopPlan) => ({ response: RESPONSE, confidence: 0.5, call: written(first.wish) });

const thoughtReply = (thought: Thought) =>
  thought.says === 'done'
    ? { done: true, finalOutput: thought.finalOutput ?? null, next: null }
    : { done: false, finalOutput: null, next: written(thought.wish) };
