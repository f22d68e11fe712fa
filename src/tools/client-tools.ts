import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { wireName } from '../internal/wire-name.ts';
import { quoted } from './error-text.ts';
import { type CapabilityRegistry, createRegistry } from './registry.ts';

/** A tool that only the client of a run can run: JSON. `arguments` is the JSON Schema of an object. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The client validates the values, because patterns in its schema could take exponential time. */
const ANY: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'postchain', validate: (value) => ({ value }) },
};

/** Returns the tools of a client, to check calls: their arguments must be objects without keys that the schema does not define. */
export function clientRegistry(tools: readonly ClientTool[]): CapabilityRegistry {
  return createRegistry(
    tools.map(({ name, description, arguments: jsonSchema }) => ({
      name,
      description,
      arguments: ANY,
      jsonSchema,
      execute: () => Promise.reject(new Error('only the client can run this tool')),
    })),
  );
}

/** Returns the descriptors of a client's tools. Throws `invalid_option`, also if a name is that of one of the chain's `capabilities`. */
export function describeClientTools(
  tools: readonly ClientTool[],
  capabilities: readonly CapabilityDescriptor[],
): readonly CapabilityDescriptor[] {
  const taken = new Set(capabilities.map(({ name }) => wireName(name)));
  const clash = tools.find(({ name }) => taken.has(wireName(name)));
  if (clash !== undefined)
    throw invalid(`the chain already has a capability named ${quoted(clash.name)}; rename the tool`);
  try {
    return clientRegistry(tools).descriptors.map((descriptor) => ({ ...descriptor, client: true }));
  } catch (error) {
    throw invalid(unexpectedFailure(error).message);
  }
}

const invalid = (problem: string): PostChainError =>
  new PostChainError('invalid_option', `clientTools: ${problem.replace(/\.$/u, '')}.`);
