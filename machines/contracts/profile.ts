import * as z from 'zod/mini';

/**
 * How a phase gets its reply: by a model call of its `own`, by one call that is `shared` with the phases next to it that share too, or by
 * `policy`, without a model.
 */
const callModeSchema = z.enum(['own', 'shared', 'policy']);
export type CallMode = z.infer<typeof callModeSchema>;

/**
 * How many model calls an answer takes. Action and Yield always have calls of their own: a tool loop and an answer need a model.
 * `writing`: whether the final answer is written by a call of its own even if Yield's answer is complete. `earlyCalls`: whether calls
 * start before the phase before them has ended, if they probably do not depend on it; a call whose prompt turns out different is repeated.
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

/** The profile of runs whose journals have none. */
export const ONE_CALL_PER_PHASE: Profile = { ...PROFILES.thorough, earlyCalls: false };
