import { z } from 'zod';
import type { Phase } from '../phase.ts';
import { actionResultSchema } from './action.ts';
import { experienceResultSchema } from './experience.ts';
import { intentionResultSchema } from './intention.ts';
import { observationResultSchema } from './observation.ts';
import { understandingResultSchema } from './understanding.ts';
import { yieldResultSchema } from './yield.ts';

/** What a phase comes to [C1]: the model's validated reply and what the engine did beside it. */
export const phaseResultSchema = z.discriminatedUnion('phase', [
  actionResultSchema,
  experienceResultSchema,
  intentionResultSchema,
  observationResultSchema,
  understandingResultSchema,
  yieldResultSchema,
]);
export type PhaseResult = Readonly<z.infer<typeof phaseResultSchema>>;

/** The newest result of each phase. */
export type PhaseResults = { readonly [P in Phase]: Extract<PhaseResult, { phase: P }> | null };
