import * as z from 'zod/mini';
import type { Chart } from '../../durable/charts/chart.ts';

/** What an observed program sends: one JSON object for each observation. */
const text = z.string().check(z.maxLength(2_000));
const id = text.check(z.minLength(1));
const ids = z.array(id).check(z.maxLength(2_000));
const event = z.looseObject({ type: text });
const candidates = z.array(
  z.object({
    guard: z.nullable(text),
    target: ids,
    result: z.enum(['false', 'taken', 'not-evaluated']),
    /** The values that the guard compared, if they are known. */
    inputs: z.optional(z.unknown()),
  }),
);
const time = z.number().check(z.gte(0), z.lte(8_640_000_000_000_000));
/** `system`: the session id of the root actor. `at`: milliseconds since the epoch. `actor`: a session id. */
const common = { system: id, at: time };
const ofActor = { ...common, actor: id };

const MAX_STATES = 2_000;
const MAX_TRANSITIONS = 20_000;

const state = z.object({
  id,
  name: text,
  parent: z.nullable(id),
  type: z.enum(['atomic', 'compound', 'parallel', 'final', 'history']),
  description: z.string(),
  initial: z.nullable(id),
  invokes: z.array(text),
  invokeIds: z.exactOptional(z.array(text)),
  entry: z.exactOptional(z.array(text)),
  exit: z.exactOptional(z.array(text)),
  tags: z.exactOptional(z.array(text)),
});
const transition = z.object({
  source: id,
  target: ids,
  event: text,
  guard: z.nullable(text),
  otherwise: z.boolean(),
  actions: z.array(text),
  delayMs: z.exactOptional(z.number()),
});
const chart: z.ZodMiniType<Chart> = z
  .object({
    id,
    states: z.array(state).check(z.maxLength(MAX_STATES)),
    transitions: z.array(transition).check(z.maxLength(MAX_TRANSITIONS)),
  })
  .check(z.refine(isConsistent));

/** One root, every other state after its parent, and transitions between these states only. */
function isConsistent({ states, transitions }: Chart): boolean {
  const known = new Set<string | null>([null]);
  const isTree = states.every(({ id, parent }, index) => {
    const fits = known.has(parent) && !known.has(id) && (parent === null) === (index === 0);
    known.add(id);
    return fits;
  });
  return isTree && transitions.every(({ source, target }) => [source, ...target].every((id) => known.has(id)));
}

export const systemMessageSchema = z.discriminatedUnion('type', [
  /** Precedes the first actor that runs the machine. `machine` identifies it within the connection. */
  z.object({ type: z.literal('machine'), ...common, machine: z.int(), chart }),
  /** An actor has started. `event`: null if it is observed only from here on. `src`: the name with which a state of its parent invokes it. */
  z.object({
    type: z.literal('actor'),
    ...ofActor,
    name: text,
    parent: z.nullable(id),
    machine: z.nullable(z.int()),
    src: z.nullable(text),
    event: z.nullable(event),
    leaves: ids,
  }),
  z.object({ type: z.literal('event'), ...ofActor, event, sender: z.nullable(id) }),
  z.object({
    type: z.literal('transition'),
    ...ofActor,
    event: text,
    source: id,
    target: ids,
    candidates,
    /** Null if they are unknown. */
    leaves: z.nullable(ids),
  }),
  z.object({ type: z.literal('ignored'), ...ofActor, event: text, candidates }),
  z.object({ type: z.literal('context'), ...ofActor, context: z.unknown() }),
  /** A timer has started: the actor receives the event at `due`, in milliseconds since the epoch, unless it is canceled. */
  z.object({ type: z.literal('timer'), ...ofActor, event: text, due: time }),
  z.object({ type: z.literal('emitted'), ...ofActor, event }),
  z.object({
    type: z.literal('end'),
    ...ofActor,
    status: z.enum(['done', 'error', 'stopped']),
    output: z.optional(z.unknown()),
    error: z.optional(z.unknown()),
  }),
  /** The system has ended, and everything about it was sent. */
  z.object({ type: z.literal('closed'), ...common }),
]);

export type SystemMessage = Readonly<z.infer<typeof systemMessageSchema>>;
