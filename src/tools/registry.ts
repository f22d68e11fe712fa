import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { wireName } from '../internal/schemas/wire-name.ts';
import { type ArgumentReader, argumentReader } from './argument-reader.ts';
import { type Capability, describe } from './capability.ts';
import { requireCapability } from './require-capability.ts';

export interface CapabilityRegistry {
  readonly descriptors: readonly CapabilityDescriptor[];
  /** The capability of this name, or undefined: an unknown name is no crash [R10]. */
  get(name: string): Capability | undefined;
  /** What reads the arguments of the capability of this name, or undefined. */
  readerOf(name: string): ArgumentReader | undefined;
}

/**
 * Throws `duplicate_capability` where two have one name, or names that servers would take for one, and `invalid_option` or
 * `invalid_schema` for one that makes no sense.
 */
export function createRegistry(capabilities: readonly Capability[]): CapabilityRegistry {
  const byWireName = new Map<string, string>();
  const entries = new Map<string, { readonly capability: Capability; readonly reader: ArgumentReader }>();
  const descriptors = capabilities.map((capability) => {
    requireCapability(capability);
    const { name } = capability;
    const taken = byWireName.get(wireName(name));
    if (taken !== undefined) throw duplicate(name, taken);
    const descriptor = describe(capability);
    byWireName.set(wireName(name), name);
    entries.set(name, { capability, reader: argumentReader(capability.arguments, descriptor.arguments) });
    return descriptor;
  });
  return {
    descriptors,
    get: (name) => entries.get(name)?.capability,
    readerOf: (name) => entries.get(name)?.reader,
  };
}

function duplicate(name: string, taken: string): PostChainError {
  const message =
    name === taken
      ? `Two capabilities are named "${name}": each needs a name of its own; rename one.`
      : `The capabilities "${taken}" and "${name}" are both "${wireName(name)}" to servers; each needs a name of its own; rename one.`;
  return new PostChainError('duplicate_capability', message);
}
