import * as z from 'zod/mini';

/**
 * How a phase gets its reply: from its `own` model call with all fields, from one brief reply `shared` with the adjacent phases that are
 * also `shared`, or by `policy`, without a model.
 */
const callModeSchema = z.enum(['own', 'shared', 'policy']);
export type CallMode = z.infer<typeof callModeSchema>;

/**
 * How many model calls an answer takes. `action`: whether Action always asks a model, or only if there are capabilities. `yield`: its own
 * call with all fields, its own call with a `brief` reply, or the call of the phases before it. `writing`: whether a separate call always
 * writes the final text, or only if Yield's answer cannot be final. `earlyCalls`: whether calls start before the preceding phase has ended,
 * if they probably do not depend on it; a call is repeated if its prompt has changed.
 */
export const profileSchema = z.strictObject({
  action: z.enum(['always', 'if-needed']),
  experience: callModeSchema,
  intention: callModeSchema,
  observation: callModeSchema,
  understanding: callModeSchema,
  yield: z.enum(['own', 'brief', 'shared']),
  writing: z.enum(['always', 'if-needed']),
  earlyCalls: z.boolean(),
});
export type Profile = Readonly<z.infer<typeof profileSchema>>;

const SHARED = { experience: 'shared', intention: 'shared', observation: 'shared', understanding: 'shared' } as const;

/** One cycle of `thorough` takes 7 calls. Without capabilities, `balanced` takes 2 (reading, answering), and `lean` takes 1. */
export const PROFILES = {
  thorough: {
    action: 'always',
    experience: 'own',
    intention: 'own',
    observation: 'own',
    understanding: 'own',
    yield: 'own',
    writing: 'always',
    earlyCalls: true,
  },
  balanced: { action: 'if-needed', ...SHARED, yield: 'brief', writing: 'if-needed', earlyCalls: true },
  lean: { action: 'if-needed', ...SHARED, yield: 'shared', writing: 'if-needed', earlyCalls: false },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;
