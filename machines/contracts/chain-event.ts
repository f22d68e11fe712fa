import { z } from 'zod';
import { limitsSchema } from './budget.ts';
import { thresholdsSchema } from './thresholds.ts';

/** Some of these numbers, by their names. */
const numbersOf = <Shape extends object>(shape: Shape) =>
  z.partialRecord(z.enum(Object.keys(shape) as [keyof Shape & string]), z.number());

/**
 * What a user can tell a running chain. `run.cancelled` is the user's own wish; `run.interrupted` is the host's (a signal, a
 * shutdown): both end in a degraded answer at once, and stay told apart. `run.directed` names a phase to go on with; it is a
 * free string on purpose, so that what is no phase is answered by the chart. `run.finished`: stop and answer now.
 * `run.adjusted`: go by other limits and thresholds from here on.
 */
export const chainEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run.cancelled'), reason: z.string().optional() }),
  z.object({ type: z.literal('run.interrupted'), reason: z.string().optional() }),
  z.object({ type: z.literal('run.directed'), phase: z.string(), prompt: z.string().optional() }),
  z.object({ type: z.literal('run.finished') }),
  z.object({
    type: z.literal('run.adjusted'),
    limits: numbersOf(limitsSchema.shape).optional(),
    thresholds: numbersOf(thresholdsSchema.shape).optional(),
  }),
  z.object({
    type: z.literal('consent.given'),
    choice: z.string(),
    items: z.record(z.string(), z.string()).optional(),
    /** Who says so, where it is not the user at this moment: an option given beforehand, say. */
    by: z.enum(['user', 'option', 'nobody']).optional(),
  }),
]);
export type ChainEvent = z.infer<typeof chainEventSchema>;
