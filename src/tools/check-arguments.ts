import type { CapabilityCall, CapabilityFailure, ParsedArguments } from '../../machines/contracts/capability.ts';
import { clippedLine } from '../../machines/text/clip.ts';
import { longNumberProblem, longNumbersIn } from '../internal/json-text.ts';
import { candidatesOf, type RepairCandidate, valuesIn } from '../internal/repair-candidates.ts';
import { POLLUTING_KEYS } from './capability.ts';
import { listed, pathText, quoted } from './error-text.ts';
import type { ArgumentValidator, CapabilityRegistry } from './registry.ts';

type AdmitsText = ArgumentValidator['admitsText'];

/** A call as a model or a decider wrote it: members may be missing or have the wrong type. */
type RequestedCall = { readonly [Key in keyof CapabilityCall]?: unknown };

const MAX_KNOWN_NAMES = 20;

/** Later consumers of the arguments (schemas, the journal, other programs) process them recursively. */
const MAX_DEPTH = 200;

/**
 * Resolves the capability of a call and validates its arguments. Returns them as parsed from JSON: defaults and transformations of the
 * schema apply when the capability runs. Never rejects.
 */
export async function checkArguments(registry: CapabilityRegistry, call: RequestedCall): Promise<ParsedArguments> {
  const { capability: name, arguments: text } = call;
  if (typeof name !== 'string') return rejected('missing_name', 'the call does not name a capability');
  if (name.trim() === '') return rejected('empty_name', 'the name of the capability is empty');
  const validator = registry.validatorOf(name);
  if (validator === undefined) {
    const names = registry.descriptors.map((known) => known.name);
    const problem = `unknown capability ${quoted(name)}; expected one of: ${listed(names, MAX_KNOWN_NAMES)}`;
    return rejected('unknown_capability', problem);
  }
  const checked = await checkedBy(validator, text);
  if (checked.ok || typeof text !== 'string') return checked;
  for await (const { value, repairs } of argumentsIn(text)) {
    const found = await checkedBy(validator, JSON.stringify(value));
    if (found.ok) return { ...found, repaired: repairs };
  }
  return checked;
}

/** What models write for a call without arguments. */
const NO_ARGUMENTS = /^\s*(?:null|none|undefined|"")\s*$/iu;

/** Yields the arguments that a text may stand for. The text may have been cut off, so closing brackets are required. */
async function* argumentsIn(text: string): AsyncGenerator<RepairCandidate, void> {
  if (NO_ARGUMENTS.test(text)) yield { value: {}, repairs: ['syntax'] };
  for await (const value of valuesIn(text, false)) yield* candidatesOf(value);
}

async function checkedBy(validator: ArgumentValidator, text: unknown): Promise<ParsedArguments> {
  const parsed = parseArguments(text, validator.admitsText);
  if (!parsed.ok) return parsed;
  const unknownKey = validator.unknownKeyIn(parsed.arguments);
  if (unknownKey !== null) return rejected('arguments_misfit', unknownKey);
  const validated = await validator.validate(parsed.arguments);
  return validated.ok ? parsed : rejected('arguments_misfit', validated.problem);
}

function rejected(code: CapabilityFailure, problem: string, maxChars = 1_000): ParsedArguments {
  return { ok: false, code, problem: clippedLine(problem, maxChars) };
}

/**
 * Parses arguments as a JSON object; blank text is `{}`. Rejects a key that could pollute prototypes, at any depth, and values nested more
 * than 200 levels deep. A number that would lose digits, such as a long id, becomes its exact text if the schema admits text there, and
 * is rejected otherwise. Linear in the text and not recursive.
 */
function parseArguments(text: unknown, admitsText: AdmitsText): ParsedArguments {
  if (typeof text !== 'string') return notAnObject(`received ${text === null ? 'null' : typeof text}`);
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    return notAnObject((error as SyntaxError).message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return notAnObject(`received ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`}`);
  const hazard = hazardIn(value);
  if (hazard !== null) return rejected('arguments_misfit', hazard, 400);
  let exact = '';
  let copied = 0;
  for (const long of longNumbersIn(text)) {
    const { path, text: number, at } = long;
    // A provider that parsed the arguments has rounded it already: it then looks like a JavaScript number.
    const mayBeRounded = String(Number(number)) === number;
    if (mayBeRounded || !admitsText(path))
      return rejected('arguments_misfit', `${pathText(path)}: ${longNumberProblem(long)}`, 400);
    exact += `${text.slice(copied, at)}"${number}"`;
    copied = at + number.length;
  }
  const parsed = copied === 0 ? value : JSON.parse(exact + text.slice(copied));
  // What runs is what people see and approve: JSON text has no -0.
  return { ok: true, arguments: text.includes('-0') ? JSON.parse(JSON.stringify(parsed)) : parsed };
}

function notAnObject(why: string): ParsedArguments {
  return rejected('arguments_not_object', `the arguments must be a JSON object: ${why}`, 400);
}

interface Place {
  readonly value: object;
  readonly key: string | number;
  readonly parent: Place | null;
  readonly depth: number;
}

function hazardIn(root: object): string | null {
  const open: Place[] = [{ value: root, key: '', parent: null, depth: 1 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > MAX_DEPTH) return `${placeText(place)}: nested more than ${MAX_DEPTH} levels deep`;
    const { value, depth } = place;
    for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
      if (typeof key === 'string' && POLLUTING_KEYS.has(key))
        return `${placeText(place)}: the key ${quoted(key)} is not allowed`;
      if (typeof member === 'object' && member !== null)
        open.push({ value: member, key, parent: place, depth: depth + 1 });
    }
  }
  return null;
}

function placeText(place: Place): string {
  const path: (string | number)[] = [];
  for (let at = place; at.parent !== null; at = at.parent) path.unshift(at.key);
  return pathText(path) || 'the arguments';
}
