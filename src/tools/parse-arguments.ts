import type { ArgumentsCheck } from '../../machines/contracts/capability.ts';
import { oneLine } from '../../machines/text/clip.ts';
import { pathText, quoted } from './quoted.ts';

/** Own keys that could change what objects are made of, once a careless program copies them. */
export const POLLUTING: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** What holds the arguments afterwards goes through them by recursion: schemas, the journal, other programs. */
const MAX_DEPTH = 200;

/**
 * The object that the text of a call's arguments stands for; no text stands for `{}`. A polluting key at any depth, and a depth
 * beyond 200, are refused. Linear in the text, and without recursion.
 */
export function parseArguments(text: unknown): ArgumentsCheck {
  if (typeof text !== 'string') return noObject(`got ${text === null ? 'null' : typeof text} in place of JSON text`);
  let value: unknown;
  try {
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch (error) {
    return noObject((error as SyntaxError).message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return noObject(`got ${value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`}`);
  const problem = hazardIn(value);
  return problem === null
    ? { ok: true, arguments: value as Record<string, unknown> }
    : { ok: false, code: 'arguments_misfit', problem: oneLine(problem) };
}

function noObject(why: string): ArgumentsCheck {
  const problem = oneLine(`the arguments are no JSON object: ${why}`);
  return { ok: false, code: 'arguments_not_object', problem };
}

interface Place {
  readonly value: object;
  readonly key: string | number;
  readonly up: Place | null;
  readonly depth: number;
}

function hazardIn(root: object): string | null {
  const open: Place[] = [{ value: root, key: '', up: null, depth: 1 }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (place.depth > MAX_DEPTH) return `${placeText(place)}: nested in more than ${MAX_DEPTH} levels; wanted fewer`;
    const polluting = lookInto(place, open);
    if (polluting !== null) return `${placeText(place)}: got the key ${quoted(polluting)}, which is never taken`;
  }
  return null;
}

/** Puts what is nested in this place with what is still to be looked at; gives the first polluting key. */
function lookInto(place: Place, open: Place[]): string | null {
  const { value, depth } = place;
  const nested = (inside: unknown, key: string | number): void => {
    if (typeof inside === 'object' && inside !== null) open.push({ value: inside, key, up: place, depth: depth + 1 });
  };
  if (Array.isArray(value)) value.forEach(nested);
  else {
    for (const key of Object.keys(value)) {
      if (POLLUTING.has(key)) return key;
      nested((value as Record<string, unknown>)[key], key);
    }
  }
  return null;
}

function placeText(place: Place): string {
  const path: (string | number)[] = [];
  for (let at = place; at.up !== null; at = at.up) path.unshift(at.key);
  return pathText(path) || 'the arguments';
}
