import * as z from 'zod/mini';

/**
 * How a value was found in a reply that was not right at once. `syntax`: it was nearly JSON. `string`: it was in a JSON string.
 * `single-item`: it was the only item of an array. `wrapper`: it was a member of another object. `later-value`: another value preceded it.
 * `tool-call`: it was a tool call, written as text.
 */
const repairSchema = z.enum(['syntax', 'string', 'single-item', 'wrapper', 'later-value', 'tool-call']);
export type Repair = z.infer<typeof repairSchema>;
export const repairsSchema = z.exactOptional(z.readonly(z.array(repairSchema)));
