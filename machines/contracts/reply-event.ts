import { z } from 'zod';
import { replySchema } from './attempt.ts';

/** Where a call stands. Times are milliseconds since the epoch by the run's clock; `chars` counts the text that came so far. */
const callProgressSchema = z.object({ openedAtMs: z.number(), atMs: z.number(), chars: z.int().min(0) });
export type CallProgress = Readonly<z.infer<typeof callProgressSchema>>;

/** What the reader of a reply tells the attempt machine. `reply.lost`: its process ended before the reply did. */
export const replyEventSchema = z.discriminatedUnion('type', [
  callProgressSchema.extend({ type: z.literal('reply.started') }),
  callProgressSchema.extend({ type: z.literal('reply.progressed') }),
  callProgressSchema.extend({ type: z.literal('reply.ended'), reply: replySchema.readonly() }),
  z.object({ type: z.literal('reply.lost') }),
]);
export type ReplyEvent = Readonly<z.infer<typeof replyEventSchema>>;
