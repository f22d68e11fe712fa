import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../machines/contracts/limits.ts';
import { isJsonNode } from '../internal/json-schema.ts';
import { describeValue } from '../internal/options.ts';
import { isStandardSchema, type JsonSchema, jsonSchemaOf } from '../internal/standard-schema.ts';
import { MAX_NAME_CHARS, wireName } from '../internal/wire-name.ts';
import { POLLUTING } from './parse-arguments.ts';
import { quoted } from './quoted.ts';
import { referredTo } from './schema-alternatives.ts';

/** What should be a capability: programs without types give anything. */
type Given = {
  readonly [Part in 'name' | 'description' | 'arguments' | 'jsonSchema' | 'timeoutMs' | 'execute']?: unknown;
};

/** @throws PostChainError `invalid_option` or `invalid_schema` for a capability that makes no sense. */
export function requireCapability(capability: Given): void {
  const { name, description, timeoutMs, execute } = capability ?? {};
  const wrong = (what: string, got: unknown, wanted: string, code: ErrorCode = 'invalid_option') =>
    refusal(capability, what, `got ${describeValue(got)}; wanted ${wanted}`, code);
  if (typeof name !== 'string' || name.trim() === '')
    throw wrong('name', name, 'a name that is not blank: a model chooses by it');
  if (name.length > MAX_NAME_CHARS)
    throw wrong('name', name, `at most ${MAX_NAME_CHARS} characters, as servers take no more; it has ${name.length}`);
  if (name !== name.trim() || /\p{C}/u.test(name) || !/[a-z\d]/iu.test(wireName(name)))
    throw wrong(
      'name',
      name,
      'one with a letter or digit of ASCII, and no spaces around it or control characters in it',
    );
  if (typeof description !== 'string' || description.trim() === '')
    throw wrong('description', description, 'a text that is not blank: a model chooses by it');
  if (typeof execute !== 'function') throw wrong('execute', execute, 'a function');
  if (timeoutMs !== undefined && !isTimeout(timeoutMs))
    throw wrong('timeoutMs', timeoutMs, `milliseconds: above 0, at most ${MAX_TIMER_MS}; or leave it out`);
  if (!isStandardSchema(capability.arguments))
    throw wrong(
      'arguments',
      capability.arguments,
      'a Standard Schema: one of zod, valibot or arktype',
      'invalid_schema',
    );
}

const isTimeout = (given: unknown): boolean => typeof given === 'number' && given > 0 && given <= MAX_TIMER_MS;

/**
 * The arguments of a capability as JSON Schema: plain JSON, with an object at its root, as servers want it.
 *
 * @throws PostChainError `invalid_schema`
 */
export function argumentsSchemaOf(capability: Given & { readonly arguments: StandardSchemaV1 }): JsonSchema {
  const wrong = (why: string, cause?: unknown) => refusal(capability, 'arguments', why, 'invalid_schema', cause);
  const { jsonSchema } = capability;
  if (jsonSchema !== undefined && !isJsonNode(jsonSchema))
    throw refusal(capability, 'jsonSchema', `got ${describeValue(jsonSchema)}; wanted a JSON Schema`, 'invalid_schema');
  let root: JsonSchema;
  try {
    root = inlined(JSON.parse(JSON.stringify(jsonSchema ?? jsonSchemaOf(capability.arguments))));
  } catch (cause) {
    throw wrong(cause instanceof Error ? cause.message.split('\n', 1).join() : 'the JSON Schema is no JSON', cause);
  }
  const { type, properties } = root;
  if (type !== 'object')
    throw wrong(
      `got a schema of ${type === undefined ? 'a choice, or of anything' : String(type)} at its root; wanted one of an object; make it a member of one`,
    );
  const polluting = Object.keys(isJsonNode(properties) ? properties : {}).find((name) => POLLUTING.has(name));
  if (polluting !== undefined) throw wrong(`got a member called ${polluting}, which no call may give; rename it`);
  return root;
}

/** Some libraries give a schema that refers to itself as a reference to a definition: servers want the object itself. */
function inlined({ $ref, ...rest }: JsonSchema): JsonSchema {
  if (typeof $ref !== 'string') return rest;
  const { type } = rest;
  const target = type === undefined ? referredTo(rest, $ref) : null;
  return isJsonNode(target) ? { ...target, ...rest } : { $ref, ...rest };
}

function refusal(capability: Given, what: string, why: string, code: ErrorCode, cause?: unknown): PostChainError {
  const { name } = capability ?? {};
  const whose = typeof name === 'string' && name.trim() !== '' ? `The capability ${quoted(name)}` : 'A capability';
  return new PostChainError(
    code,
    `${whose}, ${what}: ${why.replace(/\.$/u, '')}.`,
    cause === undefined ? {} : { cause },
  );
}
