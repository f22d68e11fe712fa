import { z } from 'zod';
import type { Phase } from '../phase.ts';
import { actionReplySchema, actionResultSchema } from './action.ts';
import { experienceReplySchema, experienceResultSchema } from './experience.ts';
import { intentionReplySchema, intentionResultSchema } from './intention.ts';
import { observationReplySchema, observationResultSchema } from './observation.ts';
import { understandingReplySchema, understandingResultSchema } from './understanding.ts';
import { yieldReplySchema, yieldResultSchema } from './yield.ts';

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

/** The schema that a model's reply must fit, phase by phase. */
export const replySchemas = {
  action: actionReplySchema,
  experience: experienceReplySchema,
  intention: intentionReplySchema,
  observation: observationReplySchema,
  understanding: understandingReplySchema,
  yield: yieldReplySchema,
} as const;
