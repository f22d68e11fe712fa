import * as z from 'zod/mini';

/**
 * How a phase gets its reply: from its `own` model call, from one call with the adjacent phases that are also `shared`, or by `policy`,
 * without a model.
 */
const callModeSchema = z.enum(['own', 'shared', 'policy']);
export type CallMode = z.infer<typeof callModeSchema>;

/**
 * How many model calls an answer takes. Action and Yield always make their own calls, because a tool loop and an answer need a model.
 * `writing`: whether a separate call always writes the final text, or only if Yield's answer cannot be final. `earlyCalls`: whether calls
 * start before the preceding phase has ended, if they probably do not depend on it; a call is repeated if its prompt has changed.
 */
export const profileSchema = z.strictObject({
  experience: callModeSchema,
  intention: callModeSchema,
  observation: callModeSchema,
  understanding: callModeSchema,
  writing: z.enum(['always', 'if-needed']),
  earlyCalls: z.boolean(),
});
export type Profile = Readonly<z.infer<typeof profileSchema>>;

/** One cycle of `thorough` takes 7 calls, of `balanced` 4, and of `lean` 3. */
export const PROFILES = {
  thorough: {
    experience: 'own',
    intention: 'own',
    observation: 'own',
    understanding: 'own',
    writing: 'always',
    earlyCalls: true,
  },
  balanced: {
    experience: 'own',
    intention: 'shared',
    observation: 'shared',
    understanding: 'shared',
    writing: 'if-needed',
    earlyCalls: true,
  },
  lean: {
    experience: 'shared',
    intention: 'shared',
    observation: 'shared',
    understanding: 'shared',
    writing: 'if-needed',
    earlyCalls: false,
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
