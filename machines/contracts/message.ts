import { z } from 'zod';
import { unitSchema } from './limits.ts';
import { phaseSchema } from './phase.ts';

/** Where a piece of a document stands: lines count from 1, both ends included. */
export const sourceSchema = z.object({
  path: z.string(),
  startLine: z.int().min(1),
  endLine: z.int().min(1),
});

export const roleSchema = z.enum(['user', 'assistant', 'search']);

export const linkSchema = z.object({ to: z.string(), relation: z.string(), strength: unitSchema });

/**
 * One immutable entry of the context [C2]. Nothing edits a message: context operations make the next version of it.
 * `createdAtMs` is milliseconds since the epoch by the run's clock; `cycle` counts from 1; `references` names message ids
 * that this one was made from; `source` is set for what came out of a document.
 */
export const messageSchema = z.object({
  id: z.string().min(1),
  role: roleSchema,
  phase: phaseSchema.nullable(),
  content: z.string(),
  createdAtMs: z.number(),
  cycle: z.int().min(0),
  tags: z.array(z.string()).readonly(),
  importance: unitSchema,
  links: z.array(linkSchema).readonly(),
  references: z.array(z.string()).readonly(),
  source: sourceSchema.nullable(),
});
export type Message = Readonly<z.infer<typeof messageSchema>>;
