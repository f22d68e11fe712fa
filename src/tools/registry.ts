import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { CapabilityDescriptor } from '../../machines/contracts/capability.ts';
import { PostChainError } from '../../machines/contracts/error.ts';
import { unexpectedFailure } from '../../machines/policies/failures.ts';
import { oneLine } from '../../machines/text/clip.ts';
import { isJsonNode, type JsonNode, nullRemover } from '../internal/json-schema.ts';
import { type JsonSchema, misfit } from '../internal/standard-schema.ts';
import { wireName } from '../internal/wire-name.ts';
import { type Capability, describe } from './capability.ts';
import { listed, pathText, quoted } from './quoted.ts';
import { requireCapability } from './require-capability.ts';
import { type Choice, readAlternatives, type Together } from './schema-alternatives.ts';
import { type Places, placesOf } from './schema-places.ts';

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

type Reading = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string };

/** Holds arguments against the schema of a capability. */
interface ArgumentReader {
  /** What the schema makes of them, or what is wrong in one line. It never rejects. */
  read(args: Record<string, unknown>): Promise<Reading>;
  /** The key that the schema does not name, in a line; null where there is none. */
  extraKeyIn(args: Record<string, unknown>): string | null;
}

const MAX_KNOWN_KEYS = 10;

/** A member that is null and may only be left out is left out: many models say null for what they do not give. */
function argumentReader(schema: StandardSchemaV1, jsonSchema: JsonSchema): ArgumentReader {
  const withoutNulls = nullRemover(jsonSchema) ?? ((args: unknown) => args);
  const findExtraKey = extraKeyFinder(jsonSchema);
  return {
    async read(args) {
      try {
        const checked = await schema['~standard'].validate(withoutNulls(args));
        if (checked.issues) return { ok: false, problem: issueText(schema, checked.issues) };
        if ('value' in checked) return { ok: true, value: checked.value };
        return { ok: false, problem: 'the arguments: the schema gave neither a value nor issues' };
      } catch (error) {
        return { ok: false, problem: oneLine(`the arguments: ${unexpectedFailure(error).message}`) };
      }
    },
    extraKeyIn(args) {
      const extra = findExtraKey(args);
      if (extra === null) return null;
      const where = pathText(extra.path.slice(0, -1)) || 'the arguments';
      return oneLine(
        `${where}: got the key ${quoted(String(extra.path.at(-1)))}; wanted none but ${listed(extra.known, MAX_KNOWN_KEYS)}`,
      );
    },
  };
}

function issueText(schema: StandardSchemaV1, issues: readonly StandardSchemaV1.Issue[]): string {
  const [issue] = misfit('arguments', schema['~standard'].vendor, issues).issues;
  return oneLine(`${oneLine(issue?.path ?? '', 200) || 'the arguments'}: ${issue?.message || 'do not fit the schema'}`);
}

/** A key that a schema does not name, where it stands, and which ones it does. */
interface ExtraKey {
  readonly path: readonly (string | number)[];
  readonly known: readonly string[];
}

/** How far a value is from an alternative: it fits (0), something within it does not (1), or it is something else altogether (2). */
interface Finding {
  readonly distance: 0 | 1 | 2;
  readonly extra: ExtraKey | null;
}

const FITS: Finding = { distance: 0, extra: null };
const NEAR: Finding = { distance: 1, extra: null };
const FAR: Finding = { distance: 2, extra: null };

/**
 * Finds the first key that a JSON Schema does not name, at any depth, where it names keys and does not allow others by
 * `additionalProperties`: many libraries drop such a key and say nothing, so what a model meant by it is lost. Of a choice, the
 * alternative counts that fits the value best. Linear in the value, whatever the choices in the schema; its depth must be bounded.
 */
export function extraKeyFinder(schema: JsonSchema): (value: unknown) => ExtraKey | null {
  const choiceOf = readAlternatives(schema);
  const places = new Map<Together, Places>();
  const placesIn = (schemas: Together): Places => {
    const known = places.get(schemas) ?? placesOf(schemas, choiceOf);
    places.set(schemas, known);
    return known;
  };
  return (value) => new Search(placesIn).inChoice(value, choiceOf([schema])).extra;
}

class Search {
  readonly #placesIn: (schemas: Together) => Places;
  /** What was found where there is a choice, so that nothing is looked through once for each alternative around it. */
  readonly #found = new Map<Choice, Map<unknown, Finding>>();

  constructor(placesIn: (schemas: Together) => Places) {
    this.#placesIn = placesIn;
  }

  inChoice(value: unknown, choice: Choice): Finding {
    const [only, ...others] = choice.alternatives;
    if (only === undefined) return FAR;
    if (others.length === 0) return this.#inAlternative(value, only);
    const known = this.#found.get(choice)?.get(value);
    if (known !== undefined) return known;
    const best = bestOf(choice.alternatives, (schemas) => this.#inAlternative(value, schemas));
    if (typeof value === 'object') {
      const found = this.#found.get(choice) ?? new Map<unknown, Finding>();
      this.#found.set(choice, found.set(value, best));
    }
    return best;
  }

  #inAlternative(value: unknown, schemas: Together): Finding {
    for (const schema of schemas) if (!fitsPlainly(schema, value)) return FAR;
    if (Array.isArray(value)) return this.#inItems(value, this.#placesIn(schemas));
    return isJsonNode(value) ? this.#inMembers(value, schemas, this.#placesIn(schemas)) : FITS;
  }

  #inItems(items: readonly unknown[], places: Places): Finding {
    let finding = FITS;
    for (let index = 0; index < items.length; index += 1)
      finding = joined(finding, this.inChoice(items[index], places.itemAt(index)), index);
    return finding;
  }

  #inMembers(members: JsonNode, schemas: Together, places: Places): Finding {
    let finding = schemas.every((schema) => hasRequired(schema, members)) ? FITS : NEAR;
    for (const key of Object.keys(members)) {
      const choice = places.memberAt(key);
      if (choice !== null) finding = joined(finding, this.inChoice(members[key], choice), key);
      else if (places.isClosed && finding.extra === null)
        finding = { ...finding, extra: { path: [key], known: places.names } };
    }
    return finding;
  }
}

/** What was found so far, and within one more place. */
function joined(soFar: Finding, within: Finding, place: string | number): Finding {
  if (within === FITS) return soFar;
  const extra = soFar.extra ?? (within.extra && { ...within.extra, path: [place, ...within.extra.path] });
  return { distance: soFar.distance === 0 && within.distance === 0 ? 0 : 1, extra };
}

/** The nearest alternative; of those as near, one without an extra key. */
function bestOf(alternatives: readonly Together[], find: (schemas: Together) => Finding): Finding {
  const rank = ({ distance, extra }: Finding): number => 2 * distance + (extra === null ? 0 : 1);
  let best: Finding | null = null;
  for (const alternative of alternatives) {
    const finding = find(alternative);
    if (finding === FITS) return FITS;
    if (best === null || rank(finding) < rank(best)) best = finding;
  }
  return best ?? FAR;
}

/** Whether a value is of the kind that a schema is about, without a look into it: its type, and the values it may have. */
function fitsPlainly({ type, const: only, enum: values }: JsonNode, value: unknown): boolean {
  if (typeof type === 'string' && !isOfType(value, type)) return false;
  if (Array.isArray(type) && !type.some((one) => isOfType(value, one))) return false;
  if (only !== undefined && !isEqual(only, value)) return false;
  return !Array.isArray(values) || values.some((one) => isEqual(one, value));
}

/** Whether a value has the members that a schema wants. */
function hasRequired({ required }: JsonNode, value: JsonNode): boolean {
  return !Array.isArray(required) || required.every((key) => Object.hasOwn(value, key));
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Of lists and objects it is not asked whether they are equal. */
function isEqual(wanted: unknown, value: unknown): boolean {
  return wanted === value || (typeof wanted === 'object' && wanted !== null);
}
