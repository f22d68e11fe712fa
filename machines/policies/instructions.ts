import type { PromptName } from '../contracts/phase.ts';

/** Journals of older versions have no instructions. */
export interface Instructed {
  readonly instructions?: string | null;
}

/**
 * Returns the instructions for the prompt of a task; null if there are none. Summaries do not get them: rules for an answer would
 * change what is kept. All phases do, because their prompts begin alike so that providers cache them.
 */
export function instructionsFor({ instructions = null }: Instructed, task: PromptName): string | null {
  return task === 'summary' ? null : instructions;
}
