import * as z from 'zod';

/** The schema of the long reply. */
export const replySchema = replySchemaOf(z);

/**
 * Returns the schema, built with any major version of zod.
 *
 * @param {Pick<typeof z, 'array' | 'boolean' | 'number' | 'object' | 'string'>} zod
 */
export function replySchemaOf(zod) {
  const unit = zod.number().min(0).max(1);
  return zod.object({
    answer: zod.string(),
    confidence: unit,
    taskComplete: zod.boolean(),
    informationSufficiency: unit,
    needsTools: zod.boolean(),
    proposedPhase: zod.string().nullable(),
    rationale: zod.string(),
    usedMessageIds: zod.array(zod.string()),
    sections: zod.array(
      zod.object({
        id: zod.string(),
        title: zod.string(),
        text: zod.string(),
        score: unit,
        settled: zod.boolean(),
        next: zod.string().nullable(),
        tags: zod.array(zod.string()),
      }),
    ),
  });
}
