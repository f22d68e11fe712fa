import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { type Capability, describe } from './capability.ts';

export interface CapabilityRegistry {
  readonly descriptors: readonly CapabilityDescriptor[];
  /** The capability of this name, or undefined: an unknown name is no crash [R10]. */
  get(name: string): Capability | undefined;
}

/** Throws `duplicate_capability` where two have one name, and `invalid_option` for one without a name or description. */
export function createRegistry(capabilities: readonly Capability[]): CapabilityRegistry {
  const byName = new Map<string, Capability>();
  for (const capability of capabilities) {
    if (capability.name.trim() === '' || capability.description.trim() === '')
      throw new PostChainError(
        'invalid_option',
        `The capability "${capability.name}" lacks a ${capability.name.trim() === '' ? 'name' : 'description'}: a model chooses by both; give it one.`,
      );
    if (byName.has(capability.name))
      throw new PostChainError(
        'duplicate_capability',
        `Two capabilities are named "${capability.name}": each needs a name of its own; rename one.`,
      );
    byName.set(capability.name, capability);
  }
  return { descriptors: capabilities.map(describe), get: (name) => byName.get(name) };
}
