import { z } from 'zod';

export const consentChoiceSchema = z.enum(['keep', 'summarise', 'remove']);
export type ConsentChoice = z.infer<typeof consentChoiceSchema>;

/** One question for the whole batch [U8]; `preview` is the first 50 characters. */
export const consentRequestSchema = z.object({
  items: z
    .array(
      z.object({
        operationId: z.string(),
        messageId: z.string(),
        preview: z.string(),
        chars: z.int(),
        summary: z.string(),
      }),
    )
    .readonly(),
});
export type ConsentRequest = Readonly<z.infer<typeof consentRequestSchema>>;
