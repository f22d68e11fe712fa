import { SimulatedClock } from 'xstate';
import type { JournalEntry } from '../../machines/contracts/journal.ts';
import type { Message } from '../../machines/contracts/message.ts';
import type { Task } from '../../machines/contracts/phase.ts';
import type { PostChainOptions } from '../../src/engine/runtime/options.ts';
import type { Run } from '../../src/engine/runtime/run.ts';
import type { RunOptions } from '../../src/engine/runtime/run-options.ts';
import { createPostChain } from '../../src/index.ts';
import { type ScriptEntry, type ScriptedModel, scriptedModel } from '../../src/models/scripted.ts';
import { replies } from '../../src/testing/replies.ts';

/** One entry for every call of a task, or a function of the number of the call. */
export type Plan = { readonly [T in Task]?: ScriptEntry | ((call: number) => ScriptEntry) };

export interface ScriptedRun {
  readonly run: Run;
  readonly model: ScriptedModel;
  readonly clock: WatchedClock;
}

/** A simulated clock that knows how many timers wait. */
class WatchedClock extends SimulatedClock {
  readonly waiting = new Set<number>();

  override setTimeout(fn: (...args: unknown[]) => void, timeout: number): number {
    const id = super.setTimeout(() => {
      this.waiting.delete(id);
      fn();
    }, timeout);
    this.waiting.add(id);
    return id;
  }

  override clearTimeout(id: number): void {
    this.waiting.delete(id);
    super.clearTimeout(id);
  }
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

/** Earlier messages, of which the first is worth a summary: relevant enough to stay, and too long to stay as it is. */
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

/** A chain on a scripted model and a simulated clock. */
export function scriptedChain(plan: Plan = {}, options: Omit<PostChainOptions, 'model' | 'clock'> = {}) {
  const clock = new WatchedClock();
  const model = plannedModel(plan);
  return { chain: createPostChain({ newId: () => 'run-1', ...options, model, clock }), model, clock };
}

export { settle } from '../../src/testing/settle.ts';

export function entriesOf<T extends JournalEntry['type']>(run: Run, type: T): Extract<JournalEntry, { type: T }>[] {
  return run.journal.filter((entry) => entry.type === type) as Extract<JournalEntry, { type: T }>[];
}

/** The phases that a run went through, in order. */
export function phasesOf(run: Run): string[] {
  return entriesOf(run, 'phase-start').map(({ phase }) => phase);
}

/** The rules that decided, in order. */
export function rulesOf(run: Run): string[] {
  return entriesOf(run, 'decision').map(({ decision }) => decision.rule);
}
