import { z } from 'zod';
import { replyEventSchema } from './reply-event.ts';

/** What is known of an error that a port rejected with: as much as a chart goes by. `message` is one line. */
const callErrorSchema = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().optional(),
  status: z.number().optional(),
  retryAfterMs: z.number().optional(),
});
export type CallError = Readonly<z.infer<typeof callErrorSchema>>;

/**
 * What came of a call out of the charts, and what came on the way: `settled` and `broken` end a question, `reply.ended` and
 * `reply.lost` the reading of a model's reply.
 */
export const callEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('settled'), output: z.unknown().optional() }),
  z.object({ type: z.literal('broken'), error: callErrorSchema }),
  ...replyEventSchema.options,
]);
export type CallEvent = Readonly<z.infer<typeof callEventSchema>>;

/** Nothing comes of a call after one of these. */
export const LAST_EVENTS: ReadonlySet<CallEvent['type']> = new Set(['settled', 'broken', 'reply.ended', 'reply.lost']);
