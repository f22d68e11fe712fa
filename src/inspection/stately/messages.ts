import { z } from 'zod';

/**
 * The messages of `@statelyai/inspect` 0.7, one JSON object each. superjson, which its Sky adapter writes, has null where others leave a
 * member out.
 */
const id = z.string().min(1).max(500);
const common = { sessionId: id, rootId: id.nullish(), createdAt: z.union([z.string(), z.number()]).nullish() };
const event = z.looseObject({ type: z.string() });
const snapshot = z.looseObject({ status: z.string().optional() });

const actorMessage = z.object({
  type: z.literal('@xstate.actor'),
  ...common,
  name: z.string().nullish(),
  parentId: id.nullish(),
  /** The configuration of the machine as JSON text; of other actors only an id. */
  definition: z.string().nullish(),
  snapshot: snapshot.nullish(),
});
const eventMessage = z.object({ type: z.literal('@xstate.event'), ...common, sourceId: id.nullish(), event });
const snapshotMessage = z.object({
  type: z.literal('@xstate.snapshot'),
  ...common,
  event: event.nullish(),
  snapshot: snapshot.nullish(),
});

export const systemMessageSchema = z.discriminatedUnion('type', [actorMessage, eventMessage, snapshotMessage]);

export type ActorMessage = Readonly<z.infer<typeof actorMessage>>;
export type EventMessage = Readonly<z.infer<typeof eventMessage>>;
export type SnapshotMessage = Readonly<z.infer<typeof snapshotMessage>>;
export type SystemMessage = ActorMessage | EventMessage | SnapshotMessage;
export type ActorSnapshot = Readonly<z.infer<typeof snapshot>>;

export const SYSTEM_MESSAGES: ReadonlySet<unknown> = new Set(
  systemMessageSchema.options.map((option) => option.shape.type.value),
);
