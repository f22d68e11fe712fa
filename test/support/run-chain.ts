import * as z from 'zod';
import type { ChainEvent } from '../../machines/contracts/events.ts';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { ChatModel } from '../../machines/contracts/model.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import { PROFILES, type Profile } from '../../machines/contracts/profile.ts';
import { answering } from '../../machines/policies/questions.ts';
import { type ListedOperation, operationList } from '../../src/chain/journal/context-history.ts';
import type { PostChainOptions } from '../../src/chain/runtime/options.ts';
import type { Run } from '../../src/chain/runtime/run.ts';
import type { RunOptions } from '../../src/chain/runtime/run-options.ts';
import type { UserReply } from '../../src/cli/ask-user.ts';
import { createPostChain } from '../../src/entries/index.ts';
import { createPromptReader, type RecordedPrompt } from '../../src/llm/recorded-prompts.ts';
import { type ScriptEntry, type ScriptedModel, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';
import { type Capability, type CapabilityContext, defineCapability } from '../../src/tools/capability.ts';
import { TestClock } from './simulated-clock.ts';

/** One entry for every call of a task, or a function of the number of the call. */
export type Plan = { readonly [T in Task]?: ScriptEntry | ((call: number) => ScriptEntry) };

export interface ScriptedRun {
  readonly run: Run;
  readonly model: ScriptedModel;
  readonly clock: TestClock;
}

const LONG: Message = {
  id: 'long',
  role: 'assistant',
  phase: 'action',
  content: 'It was so, as far as anybody remembers. '.repeat(6),
  createdAtMs: 0,
  cycle: 1,
  tags: ['relevant'],
  importance: 1,
  links: [1, 2].map((at) => ({ to: `elsewhere${at}`, relation: 'r', strength: 1 })),
  references: [],
  source: null,
};

/** Thresholds that prune and summarize by relevance whatever the space. */
export const eager = { pruneAbove: 0 };

/** Earlier messages, of which the first is worth a summary under `eager`: relevant, and too long to stay as it is. */
export const worthASummary: readonly Message[] = [LONG, { ...LONG, id: 'newest', content: 'So it was.' }];

/** What the plan leaves out gets a valid reply. */
export function plannedModel(plan: Plan): ScriptedModel {
  return scriptedModel((request, call) => {
    const planned = plan[request.task as Task] ?? replies[request.task as Task];
    const entry = typeof planned === 'function' ? (planned as (call: number) => ScriptEntry)(call) : planned;
    return typeof entry === 'function' ? entry(request) : entry;
  });
}

/** Starts a run on a scripted model and a simulated clock; what the plan leaves out gets a valid reply. */
export function startScripted(
  plan: Plan = {},
  options: Omit<PostChainOptions, 'model' | 'clock'> = {},
  run: Partial<RunOptions> = {},
): ScriptedRun {
  const { chain, model, clock } = scriptedChain(plan, options);
  return { run: chain.run({ request: 'Is it so?', ...run }), model, clock };
}

/**
 * A chain on a scripted model and a simulated clock, which asks for consent. By default, each phase makes a call of its own when the one
 * before it has ended, so that a test can script, count and interrupt the calls one by one.
 */
export function scriptedChain(plan: Plan = {}, options: Omit<PostChainOptions, 'model' | 'clock'> = {}) {
  const clock = new TestClock();
  const model = plannedModel(plan);
  const defaults = { newId: () => 'run-1', consent: 'ask', profile: ONE_CALL_PER_PHASE } as const;
  return { chain: createPostChain({ ...defaults, ...options, model, clock }), model, clock };
}

/** A chain on a model, in which each phase makes a call of its own when the one before it has ended. */
export const chainOf = (model: ChatModel, options: Omit<PostChainOptions, 'model'> = {}) =>
  createPostChain({ profile: ONE_CALL_PER_PHASE, model, ...options });

export { settle } from '../../src/testing/settle.ts';

export function entriesOf<T extends JournalEntry['type']>(
  { entries: journal }: Pick<Run, 'entries'>,
  type: T,
): Extract<JournalEntry, { type: T }>[] {
  return journal.filter((entry) => entry.type === type) as Extract<JournalEntry, { type: T }>[];
}

/** Sends an answer to the question that the run asks, or a command if it asks none. */
export function sendAnswer({ ref: actor, send }: Pick<Run, 'ref' | 'send'>, answer: UserReply | ChainEvent): void {
  send(answering(actor.getSnapshot().context, answer as ChainEvent));
}

/** The prompts of a run, in order. */
export function promptsIn(entries: readonly JournalEntry[]): readonly RecordedPrompt[] {
  const reader = createPromptReader();
  for (const entry of entries) reader.take(entry);
  return entries.flatMap(({ seq }) => reader.at(seq) ?? []);
}

/** The phases that a run went through, in order. */
export function phasesOf(run: Run): string[] {
  return entriesOf(run, 'phase-start').map(({ phase }) => phase);
}

/** The rules that decided, in order. */
export function rulesOf(run: Run): string[] {
  return entriesOf(run, 'decision').map(({ decision }) => decision.rule);
}

type Changes = { readonly [T in Task]?: Record<string, unknown> };

/** The valid replies with some fields changed. */
export function repliesWith(changes: Changes): Record<Task, Record<string, unknown>> {
  const made: Record<string, Record<string, unknown>> = {};
  for (const [task, reply] of Object.entries(replies)) made[task] = { ...reply, ...changes[task as Task] };
  return made as Record<Task, Record<string, unknown>>;
}

/** An answer that no rule completes a run by: unsure, new words each time. */
export function unsureAnswer(call: number, changes: Record<string, unknown> = {}): Record<string, unknown> {
  const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'].map((word) => `${word}${call}`).join(' ');
  return { ...replies.yield, answer: words, confidence: 0.5, ...changes };
}

/** What the model says where it wants the capability "work" run. */
export const workCall = { capability: 'work', arguments: '{}' };

type Execute = (args: Record<string, unknown>, context: CapabilityContext) => unknown;

/** Returns a capability that takes any arguments, unless `more.arguments` is given. */
export function capabilityNamed(
  name: string,
  execute: Execute = () => `${name} ran`,
  more: Partial<Capability> = {},
): Capability {
  const anything = z.looseObject({});
  return defineCapability({
    name,
    description: `It can ${name}.`,
    arguments: anything,
    ...more,
    execute: execute as never,
  });
}

const work = capabilityNamed('work', () => 'done', { description: 'Works.', arguments: z.object({}) });

/** Plan, options and run of a chain that asks its model for every task there is. */
export const everyTask = {
  plan: { action: { ...replies.action, calls: [workCall] } },
  options: { capabilities: [work], continuation: 'model', thresholds: eager },
  run: { messages: worthASummary, answer: { type: 'object' } },
} as const;

/** Each phase makes its own call, one after the other. */
export const ONE_CALL_PER_PHASE: Profile = { ...PROFILES.thorough, earlyCalls: false };

/** Lists the operations of a whole journal. */
export function listOperations(entries: Iterable<JournalEntry>): readonly ListedOperation[] {
  const { listed, take } = operationList();
  for (const entry of entries) take(entry);
  return listed;
}
