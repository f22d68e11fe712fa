import { z } from 'zod';

export const consentChoiceSchema = z.enum(['keep', 'summarise', 'remove']);
export type ConsentChoice = z.infer<typeof consentChoiceSchema>;

/** Who settled it: the user, an option given beforehand, nobody (there was nobody to ask), or the time-out; the last two keep. */
export const consentGiverSchema = z.enum(['user', 'option', 'nobody', 'time-out']);
export type ConsentGiver = z.infer<typeof consentGiverSchema>;

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
