import { z } from 'zod';

const pathSchema = z.array(z.union([z.string(), z.int().min(0)]));

/** How a state of JSON becomes the next: a place gets another value, loses its member, or of a list some items are others. */
export const stateChangeSchema = z.union([
  z.object({ path: pathSchema, at: z.int().min(0), removed: z.int().min(0), added: z.array(z.unknown()) }),
  z.object({ path: pathSchema, gone: z.literal(true) }),
  z.object({ path: pathSchema, value: z.unknown() }),
]);
export type StateChange = z.infer<typeof stateChangeSchema>;
