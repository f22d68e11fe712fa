import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import type { JsonSchema } from '../internal/standard-schema.ts';
import { argumentsSchemaOf, requireCapability } from './require-capability.ts';

export interface CapabilityContext {
  /** Aborts when the run is cancelled or the capability's time is up. */
  readonly signal: AbortSignal;
  /** The time by the run's clock, in milliseconds since the epoch. */
  now(): number;
  /** The session that the request belongs to; null where it belongs to none. */
  readonly sessionId: string | null;
  /**
   * Names this one run of the capability, and no other. A run that was cut off by a crash is done again with the same key: give it to what
   * must not happen twice, a payment say.
   */
  readonly idempotencyKey: string;
}

/** Something that the chain can do [R10]. What it throws is a failed result, not a failed run [R7]. */
export interface Capability<Schema extends StandardSchemaV1 = StandardSchemaV1> {
  /** 1 to 64 characters. Servers that call tools take letters, digits, `_` and `-`; the others are sent as `_`. */
  readonly name: string;
  /** What it does and when to use it: a model chooses by it. */
  readonly description: string;
  /** A Standard Schema of an object that can say itself as JSON Schema: zod 4.2, arktype, valibot through `toStandardJsonSchema`. */
  readonly arguments: Schema;
  /** The arguments as JSON Schema (draft 7), for a schema that cannot say it itself. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** How long one run may take, in milliseconds, in place of `limits.capabilityMs`. */
  readonly timeoutMs?: number | undefined;
  /** Gets the arguments as the schema gives them. What it gives that is no text is told to the model as JSON. */
  execute(args: StandardSchemaV1.InferOutput<Schema>, context: CapabilityContext): unknown;
}

/**
 * A capability with its argument types taken from its schema. A result that is no string is given as JSON.
 *
 * @throws PostChainError `invalid_schema` for arguments that are no object or have no JSON Schema form; `invalid_option` for
 * anything else that makes no sense.
 */
export function defineCapability<Schema extends StandardSchemaV1>(capability: Capability<Schema>): Capability {
  requireCapability(capability);
  argumentsSchemaOf(capability);
  return capability;
}

/** What a model is told of a capability. */
export function describe(capability: Capability): CapabilityDescriptor {
  const { name, description, timeoutMs } = capability;
  return { name, description, arguments: argumentsSchemaOf(capability), timeoutMs: timeoutMs ?? null };
}
