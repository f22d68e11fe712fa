import type { ArgumentsCheck, CapabilityCall, CapabilityFailure } from '../../machines/contracts/capability.ts';
import { oneLine } from '../../machines/text/clip.ts';
import { parseArguments } from './parse-arguments.ts';
import { listed, quoted } from './quoted.ts';
import type { CapabilityRegistry } from './registry.ts';

/** A call as a model or a decider gave it: what it should have may be missing. */
type Wish = { readonly [Key in keyof CapabilityCall]?: unknown };

const MAX_KNOWN_NAMES = 20;

/**
 * Resolves a call and holds its arguments against the schema of its capability [R2, R5]. What it gives is JSON, as it was parsed:
 * a transformation in the schema happens when the capability runs. It never rejects.
 */
export async function checkArguments(registry: CapabilityRegistry, call: Wish): Promise<ArgumentsCheck> {
  const { capability: name, arguments: text } = call;
  if (typeof name !== 'string') return refused('missing_name', 'the call names no capability');
  if (name.trim() === '') return refused('empty_name', 'the name of the capability is empty');
  const reader = registry.readerOf(name);
  if (reader === undefined) {
    const names = registry.descriptors.map((known) => known.name);
    return refused(
      'unknown_capability',
      `there is no capability ${quoted(name)}; there are: ${listed(names, MAX_KNOWN_NAMES)}`,
    );
  }
  const parsed = parseArguments(text);
  if (!parsed.ok) return parsed;
  const extraKey = reader.extraKeyIn(parsed.arguments);
  if (extraKey !== null) return refused('arguments_misfit', extraKey);
  const reading = await reader.read(parsed.arguments);
  return reading.ok ? parsed : refused('arguments_misfit', reading.problem);
}

function refused(code: CapabilityFailure, problem: string): ArgumentsCheck {
  return { ok: false, code, problem: oneLine(problem, 1_000) };
}
