import { z } from 'zod';
import { unitSchema } from './unit.ts';

/** Every number that a policy compares with, with the defaults of the requirements. */
export const thresholdsSchema = z
  .strictObject({
    /** Above it the answer is confident enough [Y2]. */
    confidence: unitSchema.default(0.9),
    /** With less of an answer than this in what was gathered, it is not grounded, and its confidence counts as at most the second [Y1]. */
    grounding: unitSchema.default(0.5),
    ungroundedConfidence: unitSchema.default(0.5),
    /** Below it two successive answers count as the same [Y2]. */
    change: unitSchema.default(0.1),
    /** Below it more information is needed [Y3]. */
    sufficiency: unitSchema.default(0.7),
    /** More messages than this and the context wants cleaning [Y3]. */
    crowdedMessages: z.int().min(1).default(10),
    /** As often as this with the same target and content, and it is a loop [Y7]. */
    loopRepeats: z.int().min(2).default(2),
    /** Above it Intention raises a message's priority; below `lowAlignment` it tags it [C6]. */
    alignment: unitSchema.default(0.7),
    lowAlignment: unitSchema.default(0.3),
    /** Above it Observation links two messages [C7]. */
    link: unitSchema.default(0.7),
    /** Above it Observation tags a message important and persistent [C7]. */
    persist: unitSchema.default(0.65),
    /** Below it an assistant message is pruned; below `summarise` it is summarised [U5]. */
    prune: unitSchema.default(0.3),
    summarise: unitSchema.default(0.7),
    /** A longer user message asks consent before it is summarised [U4]. */
    userMessageChars: z.int().min(1).default(1_000),
    userSummaryChars: z.int().min(1).default(200),
    assistantSummaryChars: z.int().min(1).default(100),
    /** Share of the model's window that the context may fill [U10]. */
    windowShare: unitSchema.default(0.7),
    /** A message's recency halves in this many cycles [U11]. */
    halfLifeCycles: z.number().positive().default(2),
    /** Passages asked of the documents, and the least relevance that counts [C5]. */
    passages: z.int().min(1).default(5),
    passageRelevance: unitSchema.default(0.35),
  })
  .refine(({ prune, summarise }) => prune <= summarise, { path: ['prune'], message: 'wanted at most `summarise`' });
export type Thresholds = Readonly<z.infer<typeof thresholdsSchema>>;
