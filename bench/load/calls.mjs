import * as z from 'zod';
import { PHASES, schemas } from '../step/replies.mjs';

/** The streamed calls of a run. Every contender makes each of them once, and gets the same replies. */
export const CALLS = /** @type {const} */ ([...PHASES, 'synthesis']);

/** The schemas of their replies, for the contenders that validate themselves. */
export const callSchemas = {
  ...schemas,
  synthesis: z.object({
    answerText: z.string(),
    confidence: z.number(),
    usedMessageIds: z.array(z.string()),
    notes: z.string(),
  }),
};
