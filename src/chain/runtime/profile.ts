import * as z from 'zod/mini';
import { PHASES, type Phase, type PromptName } from '../../../machines/contracts/phase.ts';
import { PROFILES, type Profile, type ProfileName, profileSchema } from '../../../machines/contracts/profile.ts';
import type { Prompt } from '../prompts/prompt.ts';
import { prompts } from '../prompts/registry.ts';

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
 * Returns the profile of a chain. Without documents, Experience has nothing to read, so it uses a model only if it makes its own call or
 * shares the call that answers. A phase whose prompt replaces the built-in one makes its own call, because brief replies have another
 * prompt.
 */
export function resolveProfile(option: ProfileOption = 'balanced', { prompts: given, hasDocuments }: Given): Profile {
  const { extends: name = 'balanced', ...settings } = typeof option === 'string' ? { extends: option } : option;
  const base: Profile = PROFILES[name];
  const experience = hasDocuments || base.experience === 'own' || base.yield === 'shared' ? base.experience : 'policy';
  const set = Object.entries(settings).filter(([, value]) => value !== undefined);
  const profile: Profile = { ...base, experience, ...Object.fromEntries(set) };
  const isReplaced = (phase: Phase): boolean => given[phase] !== prompts[phase];
  const own = PHASES.filter((phase) => phase !== 'action' && profile[phase] !== 'policy' && isReplaced(phase));
  return {
    ...profile,
    ...(isReplaced('action') && { action: 'always' }),
    ...Object.fromEntries(own.map((phase) => [phase, 'own'])),
  };
}
