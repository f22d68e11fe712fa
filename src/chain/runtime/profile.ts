import * as z from 'zod/mini';
import type { PromptName } from '../../../machines/contracts/phase.ts';
import { PROFILES, type Profile, type ProfileName, profileSchema } from '../../../machines/contracts/profile.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { hasSharedReply } from '../prompts/prompt-spec.ts';

const profileNameSchema = z.enum(Object.keys(PROFILES) as ProfileName[]);

/** A profile by name, or settings that replace those of the profile that they extend (by default `balanced`). */
export type ProfileOption = ProfileName | (Partial<Profile> & { readonly extends?: ProfileName });

export const profileOptionSchema = z.union(
  [profileNameSchema, z.extend(z.partial(profileSchema), { extends: z.optional(profileNameSchema) })],
  'expected "thorough", "balanced", "lean", or settings such as { extends: "lean", understanding: "own" }',
);

interface Given {
  readonly prompts: Readonly<Record<PromptName, Prompt>>;
  readonly hasDocuments: boolean;
}

/**
 * Returns the profile of a chain. Without documents, Experience has nothing to read, so only `thorough` asks a model. A phase whose prompt
 * replaces the built-in `system`, `user` or `output` cannot share a call.
 */
export function resolveProfile(option: ProfileOption = 'balanced', { prompts, hasDocuments }: Given): Profile {
  const { extends: name = 'balanced', ...settings } = typeof option === 'string' ? { extends: option } : option;
  const base: Profile = PROFILES[name];
  const experience = hasDocuments || name === 'thorough' ? base.experience : 'policy';
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  const profile: Profile = { ...base, experience, ...Object.fromEntries(given) };
  const own = SHARING.filter((phase) => profile[phase] === 'shared' && !hasSharedReply(prompts[phase]));
  return { ...profile, ...Object.fromEntries(own.map((phase) => [phase, 'own'])) };
}

const SHARING = ['experience', 'intention', 'observation', 'understanding'] as const;
