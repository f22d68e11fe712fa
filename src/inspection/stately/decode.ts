import { isMembers, type Members } from './json-members.ts';
import { SYSTEM_MESSAGES, type SystemMessage, systemMessageSchema } from './messages.ts';

/** What a text frame holds. `unknown` is for types of messages that came after this was written. */
export type Decoded =
  | { readonly kind: 'message'; readonly message: SystemMessage; readonly truncated: boolean }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed' };

/** One text frame of the protocol: JSON, or superjson with the message in `json`. Never throws. */
export function decode(text: string): Decoded {
  const parsed = parsedJson(text);
  if (!isMembers(parsed)) return { kind: 'malformed' };
  return decodeMessage(typeof parsed['type'] === 'string' ? parsed : parsed['json']);
}

/** One message as an object, as a browser's window gets it. */
export function decodeMessage(given: unknown): Decoded {
  const { value, truncated } = clippedJson(given);
  if (!isMembers(value) || typeof value['type'] !== 'string') return { kind: 'malformed' };
  if (value['type'] === '@statelyai.disconnected') return { kind: 'stopped' };
  if (!SYSTEM_MESSAGES.has(value['type'])) return { kind: 'unknown' };
  const read = systemMessageSchema.safeParse(value);
  return read.success ? { kind: 'message', message: read.data, truncated } : { kind: 'malformed' };
}

/** The configuration of a machine; null for an actor that is none, and for what cannot be read. */
export function decodeDefinition(text: string | null | undefined): { definition: Members; truncated: boolean } | null {
  if (text === null || text === undefined) return null;
  const { value, truncated } = clippedJson(parsedJson(text));
  if (!isMembers(value)) return null;
  // An actor of another kind has the name of its function, or its id, and nothing else.
  const isMachine = Object.keys(value).some((name) => name !== 'id' && name !== 'type');
  return isMachine ? { definition: value, truncated } : null;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What `safe-stable-stringify`, by which the package writes its messages, puts in the place of what it leaves out. */
const MARKERS: ReadonlySet<unknown> = new Set(['[Object]', '[Array]', '[Circular]', '[...]']);

interface ClippedJson {
  readonly value: unknown;
  /** Something of it was left out, by the sender or here. */
  readonly truncated: boolean;
}

/**
 * JSON from elsewhere, nested no deeper than `maxDepth`, so that whatever walks it has an end; deeper parts become the sender's own
 * markers. Members named `__proto__` are left out.
 */
function clippedJson(whole: unknown, maxDepth = 100): ClippedJson {
  let truncated = false;
  const clipped = (value: unknown, depth: number): unknown => {
    if (typeof value !== 'object' || value === null) {
      if (MARKERS.has(value)) truncated = true;
      return value;
    }
    if (depth === 0) {
      truncated = true;
      return Array.isArray(value) ? '[Array]' : '[Object]';
    }
    if (Array.isArray(value)) return value.map((item) => clipped(item, depth - 1));
    const members = Object.entries(value).filter(([name]) => name !== '__proto__');
    return Object.fromEntries(members.map(([name, member]) => [name, clipped(member, depth - 1)]));
  };
  return { value: clipped(whole, maxDepth), truncated };
}
