import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { type ErrorCode, PostChainError } from '../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../machines/contracts/limits.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { describeValue } from '../internal/describe-value.ts';
import { isJsonNode, referredTo } from '../internal/json-schema.ts';
import { isStandardSchema, type JsonSchema, jsonSchemaOf } from '../internal/standard-schema.ts';
import { MAX_NAME_CHARS, wireName } from '../internal/wire-name.ts';
import { zodRules } from '../internal/zod-rules.ts';
import { quoted } from './error-text.ts';

export interface CapabilityContext {
  /** Aborts when the run is canceled or the capability exceeds its time limit. */
  readonly signal: AbortSignal;
  /** Returns the time by the run's clock, in milliseconds since the epoch. */
  now(): number;
  /** The session of the request, or null. */
  readonly sessionId: string | null;
  /**
   * Identifies this execution. An execution interrupted by a crash is repeated with the same key: pass it to operations that must not
   * happen twice, for example a payment.
   */
  readonly idempotencyKey: string;
}

/** Declared as a method, so that a capability with any schema is assignable to `Capability`. */
interface ApprovalRule<Schema extends StandardSchemaV1> {
  needsApproval(
    args: StandardSchemaV1.InferOutput<Schema>,
    context: Omit<CapabilityContext, 'idempotencyKey'>,
  ): boolean | Promise<boolean>;
}

/** A capability (tool) of the chain. An error that it throws becomes a failed result, not a failed run. */
export interface Capability<Schema extends StandardSchemaV1 = StandardSchemaV1> {
  /** 1 to 64 characters. Tool-calling servers accept letters, digits, `_` and `-`; other characters are sent as `_`. */
  readonly name: string;
  /** What it does and when to use it. The model chooses by this text. */
  readonly description: string;
  /** A Standard Schema of an object, convertible to JSON Schema: zod 4.2, arktype, or valibot with `toStandardJsonSchema`. */
  readonly arguments: Schema;
  /** The arguments as JSON Schema (draft 7), if the schema cannot be converted. */
  readonly jsonSchema?: JsonSchema | undefined;
  /** The time limit of one execution, in milliseconds. Default: `limits.capabilityMs`. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether a call must be approved before it runs: `always`, `never`, or a function that decides by the arguments. If the function throws or
   * takes longer than `limits.capabilityMs`, approval is needed. Default: the chain's `approval`.
   */
  readonly approval?: 'always' | 'never' | ApprovalRule<Schema>['needsApproval'] | undefined;
  /** Receives the schema's output. A result that is not a string is given to the model as JSON. */
  execute(args: StandardSchemaV1.InferOutput<Schema>, context: CapabilityContext): unknown;
}

/**
 * Returns the capability; the types of its arguments come from its schema.
 *
 * @throws PostChainError `invalid_schema` if the arguments are not an object or have no JSON Schema; `invalid_option` for any other
 * invalid member.
 */
export function defineCapability<Schema extends StandardSchemaV1>(capability: Capability<Schema>): Capability {
  requireCapability(capability);
  argumentsSchemaOf(capability);
  return capability;
}

export function describe(capability: Capability): CapabilityDescriptor {
  const { name, description, timeoutMs } = capability;
  const rules = rulesText(capability.arguments);
  return {
    name,
    description: rules === '' ? description : `${description}\nRules for the arguments: ${rules}`,
    arguments: argumentsSchemaOf(capability),
    timeoutMs: timeoutMs ?? null,
  };
}

const MAX_RULES = 20;
const MAX_RULE_CHARS = 200;

/** Returns the rules of a zod schema that its JSON Schema cannot express, so that the model knows them. */
function rulesText(schema: StandardSchemaV1): string {
  const texts = zodRules(schema).map(({ path, message }) =>
    clippedLine(path === '' ? message : `${path}: ${message}`, MAX_RULE_CHARS),
  );
  return [...new Set(texts)].slice(0, MAX_RULES).join('; ');
}

const MEMBERS = ['name', 'description', 'arguments', 'jsonSchema', 'timeoutMs', 'approval', 'execute'] as const;

/** A capability from code without types: members may be missing or have the wrong type. */
type UncheckedCapability = { readonly [Part in (typeof MEMBERS)[number]]?: unknown };

/** @throws PostChainError `invalid_option` or `invalid_schema` */
export function requireCapability(capability: UncheckedCapability): void {
  const { name, description, timeoutMs, approval, execute, arguments: schema } = capability ?? {};
  const invalid = (member: string, expected: string, received: unknown, code: ErrorCode = 'invalid_option') =>
    capabilityError(capability, member, `must be ${expected}; received ${describeValue(received)}`, code);
  if (typeof name !== 'string' || name.trim() === '')
    throw invalid('name', 'a non-empty string, because the model chooses by it', name);
  if (name.length > MAX_NAME_CHARS) throw invalid('name', `at most ${MAX_NAME_CHARS} characters long`, name.length);
  if (name !== name.trim() || /\p{C}/u.test(name) || !/[a-z\d]/iu.test(wireName(name)))
    throw invalid('name', 'without surrounding spaces or control characters, and have an ASCII letter or digit', name);
  if (typeof description !== 'string' || description.trim() === '')
    throw invalid('description', 'a non-empty string, because the model chooses by it', description);
  if (typeof execute !== 'function') throw invalid('execute', 'a function', execute);
  if (timeoutMs !== undefined && !(typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS))
    throw invalid('timeoutMs', `a number of milliseconds above 0 and at most ${MAX_TIMER_MS}, or omitted`, timeoutMs);
  if (!(approval === undefined || approval === 'always' || approval === 'never' || typeof approval === 'function'))
    throw invalid('approval', '"always", "never" or a function, or omitted', approval);
  if (!isStandardSchema(schema))
    throw invalid('arguments', 'a Standard Schema, for example of zod, valibot or arktype', schema, 'invalid_schema');
  // An instance of a class may have members of its own.
  const members = Object.getPrototypeOf(capability) === Object.prototype ? Object.keys(capability) : [];
  const unknown = members.find((member) => !(MEMBERS as readonly string[]).includes(member));
  if (unknown !== undefined)
    throw capabilityError(capability, unknown, `is unknown; expected only ${MEMBERS.join(', ')}`, 'invalid_option');
}

/** Own keys that could change an object's prototype if other code copies them carelessly. */
export const POLLUTING_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function argumentsSchemaOf(capability: UncheckedCapability & { readonly arguments: StandardSchemaV1 }): JsonSchema {
  const invalid = (member: string, problem: string, cause?: unknown) =>
    capabilityError(capability, member, problem, 'invalid_schema', cause);
  const { jsonSchema } = capability;
  if (jsonSchema !== undefined && !isJsonNode(jsonSchema))
    throw invalid('jsonSchema', `must be a JSON Schema; received ${describeValue(jsonSchema)}`);
  let root: JsonSchema;
  try {
    root = withRootInlined(JSON.parse(JSON.stringify(jsonSchema ?? jsonSchemaOf(capability.arguments))));
  } catch (cause) {
    throw invalid('arguments', cause instanceof Error ? cause.message.split('\n', 1).join() : 'not JSON', cause);
  }
  const { type, properties } = root;
  if (type !== 'object') {
    const received = type === undefined ? 'a choice or any value' : String(type);
    throw invalid('arguments', `must be an object at the root; received ${received}; make it a property of an object`);
  }
  const polluting = Object.keys(isJsonNode(properties) ? properties : {}).find((name) => POLLUTING_KEYS.has(name));
  if (polluting !== undefined)
    throw invalid('arguments', `must not have the property ${polluting}, which is rejected in calls; rename it`);
  return root;
}

/**
 * Returns the schema with a reference at its root replaced by the definition. Some libraries convert a recursive schema to a reference into
 * its definitions, but servers require an object at the root.
 */
function withRootInlined({ $ref, ...rest }: JsonSchema): JsonSchema {
  if (typeof $ref !== 'string') return rest;
  const target = rest['type'] === undefined ? referredTo(rest, $ref) : null;
  return isJsonNode(target) ? { ...target, ...rest } : { $ref, ...rest };
}

function capabilityError(
  capability: UncheckedCapability,
  member: string,
  problem: string,
  code: ErrorCode,
  cause?: unknown,
): PostChainError {
  const { name } = capability ?? {};
  const whose = typeof name === 'string' && name.trim() !== '' ? `The capability ${quoted(name)}` : 'A capability';
  const message = `${whose} is invalid: "${member}" ${problem.replace(/\.$/u, '')}.`;
  return new PostChainError(code, message, cause === undefined ? {} : { cause });
}
