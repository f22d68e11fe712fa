import * as z from 'zod';

/**
 * An image or another file of a message, without its bytes. `digest` identifies the bytes together with the media type;
 * `name` is null if the file has none.
 */
export const attachmentSchema = z.object({
  digest: z.string().min(1),
  mediaType: z.string().min(1),
  name: z.string().nullable(),
  bytes: z.int().min(1),
});
export type Attachment = Readonly<z.infer<typeof attachmentSchema>>;

/** An attachment with its bytes in Base64, as a model receives it. */
export interface AttachedFile extends Attachment {
  readonly data: string;
}
