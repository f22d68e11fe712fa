import { z } from 'zod';

/** The inputs that a verdict saw: flat, so that every one can be shown beside its guard [Y8]. */
export const verdictInputsSchema = z.record(z.string(), z.union([z.number(), z.string(), z.boolean(), z.null()]));

/** What a guard's policy says, and the numbers it saw. */
const verdictSchema = z.object({ holds: z.boolean(), inputs: verdictInputsSchema });
export type GuardResult = Readonly<z.infer<typeof verdictSchema>>;
