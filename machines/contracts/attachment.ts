import * as z from 'zod/mini';

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
