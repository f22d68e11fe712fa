import * as z from 'zod/mini';

/** The six phases, in the order of a full cycle. */
export const PHASES = ['action', 'experience', 'intention', 'observation', 'understanding', 'yield'] as const;

export const phaseSchema = z.enum(PHASES);
export type Phase = z.infer<typeof phaseSchema>;

/**
 * What a model is asked to do: one of the six phases, choose the next capability, summarize messages, write the final
 * answer, or state it as a value.
 */
export const TASKS = [...PHASES, 'continuation', 'summary', 'synthesis', 'value'] as const;
export type Task = (typeof TASKS)[number];

/** Whether a task follows the phases: it writes the answer, or states it as a value. */
export const followsPhases = (task: string): boolean => task === 'synthesis' || task === 'value';

/** The names of the prompts: one per task, one for brief replies, and one for the judge of answers. */
export const PROMPT_NAMES = [...TASKS, 'brief', 'grading'] as const;
export type PromptName = (typeof PROMPT_NAMES)[number];
