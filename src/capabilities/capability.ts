import { z } from 'zod';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';

export interface CapabilityContext {
  /** Aborts when the run is cancelled or the capability's time is up. */
  readonly signal: AbortSignal;
}

/** Something that the chain can do [R10]. What it throws is a failed result, not a failed run [R7]. */
export interface Capability<Arguments extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly arguments: Arguments;
  execute(args: z.output<Arguments>, context: CapabilityContext): unknown;
}

/** A capability with its argument types taken from its schema. A result that is no string is given as JSON. */
export function defineCapability<Arguments extends z.ZodType>(capability: Capability<Arguments>): Capability {
  return capability as unknown as Capability;
}

/** What a model is told of a capability. */
export function describe({ name, description, arguments: schema }: Capability): CapabilityDescriptor {
  return { name, description, arguments: z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) };
}
