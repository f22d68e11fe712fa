import * as z from 'zod/mini';
import { unitSchema } from './limits.ts';
import { phaseSchema } from './phase.ts';

/**
 * An image or another file of a message, without its bytes. `digest` identifies the bytes together with the media type;
 * `name` is null if the file has none.
 */
export const attachmentSchema = z.object({
  digest: z.string().check(z.minLength(1)),
  mediaType: z.string().check(z.minLength(1)),
  name: z.nullable(z.string()),
  bytes: z.int().check(z.gte(1)),
});
export type Attachment = Readonly<z.infer<typeof attachmentSchema>>;

/** An attachment with its bytes in Base64, as a model receives it. */
export interface AttachedFile extends Attachment {
  readonly data: string;
}

/** A document, or a range of its lines, counted from 1, both ends included. A record of a database has no lines. */
export const sourceSchema = z.object({
  path: z.string(),
  startLine: z.exactOptional(z.int().check(z.gte(1))),
  endLine: z.exactOptional(z.int().check(z.gte(1))),
});
export type Source = Readonly<z.infer<typeof sourceSchema>>;

export const roleSchema = z.enum(['user', 'assistant', 'search']);

export const linkSchema = z.object({ to: z.string(), relation: z.string(), strength: unitSchema });

/**
 * One immutable entry of the context; operations replace it with a new version. `createdAtMs` is in milliseconds since
 * the epoch, by the run's clock; `cycle` counts from 1; `references` contains the ids of the messages that it was made
 * from; `source` is set for text from a document. `attachments` are its images and files; omitted if there are none.
 */
export const messageSchema = z.object({
  id: z.string().check(z.minLength(1)),
  role: roleSchema,
  phase: z.nullable(phaseSchema),
  content: z.string(),
  createdAtMs: z.number(),
  cycle: z.int().check(z.gte(0)),
  tags: z.readonly(z.array(z.string())),
  importance: unitSchema,
  links: z.readonly(z.array(linkSchema)),
  references: z.readonly(z.array(z.string())),
  source: z.nullable(sourceSchema),
  attachments: z.exactOptional(z.readonly(z.array(z.readonly(attachmentSchema)))),
});
export type Message = Readonly<z.infer<typeof messageSchema>>;
