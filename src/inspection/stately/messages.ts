import * as z from 'zod/mini';
import { parseJson } from '../../internal/json-text.ts';
import { isMembers, type Members } from './machine-outline.ts';

/** The messages of `@statelyai/inspect` 0.7, one JSON object each. Its Sky adapter uses superjson, which writes null for a missing member. */
const id = z.string().check(z.minLength(1), z.maxLength(500));
const common = { sessionId: id, rootId: z.nullish(id), createdAt: z.nullish(z.union([z.string(), z.number()])) };
const event = z.looseObject({ type: z.string() });
const snapshot = z.looseObject({ status: z.optional(z.string()) });

const actorMessage = z.object({
  type: z.literal('@xstate.actor'),
  ...common,
  name: z.nullish(z.string()),
  parentId: z.nullish(id),
  /** The machine's configuration as JSON text; other actors have only an id. */
  definition: z.nullish(z.string()),
  snapshot: z.nullish(snapshot),
});
const eventMessage = z.object({ type: z.literal('@xstate.event'), ...common, sourceId: z.nullish(id), event });
const snapshotMessage = z.object({
  type: z.literal('@xstate.snapshot'),
  ...common,
  event: z.nullish(event),
  snapshot: z.nullish(snapshot),
});

const systemMessageSchema = z.discriminatedUnion('type', [actorMessage, eventMessage, snapshotMessage]);

export type ActorMessage = Readonly<z.infer<typeof actorMessage>>;
export type EventMessage = Readonly<z.infer<typeof eventMessage>>;
export type SnapshotMessage = Readonly<z.infer<typeof snapshotMessage>>;
export type SystemMessage = ActorMessage | EventMessage | SnapshotMessage;
export type ActorSnapshot = Readonly<z.infer<typeof snapshot>>;

const SYSTEM_MESSAGES: ReadonlySet<unknown> = new Set(
  systemMessageSchema.def.options.map((option) => option.shape.type.def.values[0]),
);

/** A decoded frame. `unknown` is a message type of a later protocol version. */
export type Decoded =
  | { readonly kind: 'message'; readonly message: SystemMessage; readonly truncated: boolean }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'malformed' };

/** Decodes one text frame: JSON, or superjson with the message in `json`. Never throws. */
export function decode(text: string): Decoded {
  const parsed = parseJson(text);
  if (!isMembers(parsed)) return { kind: 'malformed' };
  const { value, truncated } = clippedJson(typeof parsed['type'] === 'string' ? parsed : parsed['json']);
  if (!isMembers(value) || typeof value['type'] !== 'string') return { kind: 'malformed' };
  if (value['type'] === '@statelyai.disconnected') return { kind: 'stopped' };
  if (!SYSTEM_MESSAGES.has(value['type'])) return { kind: 'unknown' };
  const read = systemMessageSchema.safeParse(value);
  return read.success ? { kind: 'message', message: read.data, truncated } : { kind: 'malformed' };
}

/** Parses a machine's configuration; null if it is invalid, or if the actor is not a machine. */
export function decodeDefinition(text: string | null | undefined): { definition: Members; truncated: boolean } | null {
  if (text === null || text === undefined) return null;
  const { value, truncated } = clippedJson(parseJson(text));
  if (!isMembers(value)) return null;
  // Other actors have only an id or the name of their function.
  const isMachine = Object.keys(value).some((name) => name !== 'id' && name !== 'type');
  return isMachine ? { definition: value, truncated } : null;
}

/** Placeholders of `safe-stable-stringify`, with which the package truncates its messages. */
const MARKERS: ReadonlySet<unknown> = new Set(['[Object]', '[Array]', '[Circular]', '[...]']);

interface ClippedJson {
  readonly value: unknown;
  /** Whether parts were left out, by the sender or here. */
  readonly truncated: boolean;
}

/**
 * Truncates foreign JSON at `maxDepth`, so that recursive functions cannot overflow the stack. Deeper parts become the sender's own
 * placeholders. Members named `__proto__` are dropped.
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
