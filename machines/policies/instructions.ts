import type { PromptName } from '../contracts/phase.ts';

/** Journals of older versions have no instructions. */
export interface Instructed {
  readonly instructions?: string | null;
}

/**
 * The prompts without instructions. Observation, Understanding and summaries record, rate and shorten what is there: rules for an
 * answer would change what is kept. All others need them: Action, the continuation and Experience decide on tools and on what to
 * search; Intention interprets domain terms; Yield and synthesis write for the reader; and a judge must know what the answer had to follow.
 */
const WITHOUT: ReadonlySet<PromptName> = new Set<PromptName>(['observation', 'understanding', 'summary']);

/** Returns the instructions for the prompt of a task; null if there are none, or if it does not contain them. */
export function instructionsFor({ instructions = null }: Instructed, task: PromptName): string | null {
  return WITHOUT.has(task) ? null : instructions;
}
