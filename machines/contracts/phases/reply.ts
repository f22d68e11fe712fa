import type { z } from 'zod';
import { continuationReplySchema } from '../continuation.ts';
import { summaryReplySchema } from '../summary.ts';
import { synthesisReplySchema } from '../synthesis.ts';
import { actionReplySchema } from './action.ts';
import { experienceReplySchema } from './experience.ts';
import { intentionReplySchema } from './intention.ts';
import { observationReplySchema } from './observation.ts';
import { understandingReplySchema } from './understanding.ts';
import { yieldReplySchema } from './yield.ts';

/** The schema that a model's reply must fit, task by task. */
export const replySchemas = {
  action: actionReplySchema,
  experience: experienceReplySchema,
  intention: intentionReplySchema,
  observation: observationReplySchema,
  understanding: understandingReplySchema,
  yield: yieldReplySchema,
  continuation: continuationReplySchema,
  summary: summaryReplySchema,
  synthesis: synthesisReplySchema,
} as const;

/** What a model says, task by task. */
export type Replies = { readonly [T in keyof typeof replySchemas]: Readonly<z.infer<(typeof replySchemas)[T]>> };
