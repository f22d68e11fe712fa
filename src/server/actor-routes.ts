import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import { whereOf } from '../durable/journals/journal-store.ts';
import { acceptedEvent, type EventSchemas, eventSchema, validated } from '../internal/accepted-events.ts';
import { functionSchema, hasMethod } from '../internal/options.ts';
import { isStandardSchema } from '../internal/standard-schema.ts';
import type { ActorService } from './actor-service.ts';
import {
  bodyOf,
  idempotencyKeyOf,
  invalid,
  invalidRequest,
  lastEventIdOf,
  pageOf,
  type ServerApp,
  type Streams,
} from './context.ts';

/** A durable machine, and what clients may send to its actors and see of them. Schemas are Standard Schemas, such as those of zod. */
export interface MachineOptions {
  readonly host: DurableMachine<AnyStateMachine>;
  /**
   * The types of events that clients may send, each with a schema of the other members of the event. By default, they may send any event
   * whose type does not begin with `xstate.`.
   */
  readonly events?: EventSchemas;
  /** The schema of the input with which clients start an actor. By default, any input is accepted. */
  readonly input?: StandardSchemaV1;
  /** Returns the JSON that clients see as `context`; by default, the whole context. */
  readonly view?: (snapshot: AnyMachineSnapshot) => unknown;
}

/** A machine with its name in paths. */
export interface NamedMachine extends MachineOptions {
  readonly name: string;
  /** Whether it starts only with a request to an agent, so that clients cannot choose its input. */
  readonly isAgent?: true;
}

const standardSchema = z.custom(isStandardSchema);

/** Returns the schema of durable machines by their names, each alone or with options. */
export function machinesOf<Options extends z.core.$ZodLooseShape>(expected: string, options: Options) {
  const hostSchema = hasMethod('replaySteps', expected);
  const events = z.optional(z.record(z.string(), standardSchema));
  const withOptions = z.strictObject({ host: hostSchema, events, ...options, view: z.optional(functionSchema) });
  return z
    .record(z.string(), z.union([hostSchema, withOptions], expected))
    .check(
      z.refine(
        (machines) => Object.keys(machines).every((name) => /^[\w-]{1,64}$/u.test(name)),
        'expected names of letters, digits, "-" and "_"',
      ),
    );
}

export const machinesSchema = machinesOf(
  'expected a durable machine, or { host, events, input, view } with Standard Schemas',
  { input: z.optional(standardSchema) },
);

const newActorSchema = z.strictObject({
  input: z.optional(z.unknown()),
  queued: z.optional(z.boolean()),
  priority: z.optional(z.number()),
  delayMs: z.optional(z.number()),
});

/** Adds the endpoints of the actors of a machine. */
export function addActorRoutes(app: ServerApp, streams: Streams, machine: NamedMachine, actors: ActorService): void {
  const path = `/machines/${machine.name}`;

  if (machine.isAgent !== true)
    app.post(path, async (c) => {
      const { input, queued = false, ...place } = await bodyOf(c, newActorSchema);
      const [name] = Object.keys(place);
      if (!queued && name !== undefined) throw invalidRequest(`${name}: expected "queued": true, too.`);
      const valid = machine.input === undefined ? input : await accepted(validated(machine.input, input, 'input'));
      const begun = { input: valid, place: queued ? (place as object) : undefined };
      const starting = actors.start(c.var.owner, begun, idempotencyKeyOf(c).idempotencyKey);
      const { id, isNew } = await (queued ? accepted(starting, ['invalid_option']) : starting);
      c.header('location', `${path}/${encodeURIComponent(id)}`);
      return c.json({ id }, isNew ? 201 : 200);
    });

  app.get(path, async (c) => {
    const texts = c.req.queries('where') ?? [];
    const isHidden = machine.view !== undefined;
    const wrong = texts.find((text) => isHidden || !text.includes('='));
    if (wrong !== undefined)
      throw invalid(
        'where',
        isHidden ? 'not available, because the machine has a "view"' : 'expected name=value',
        wrong,
      );
    const found = await actors.list(c.var.owner, { ...pageOf(c), where: whereOf(texts) });
    return c.json({
      actors: found.map(({ id, startedAt, status, waiting, attributes }) => ({
        id,
        startedAt,
        status,
        attributes: isHidden ? {} : attributes,
        waitingFor: waiting && [...waiting.events, ...(waiting.approvals ? ['approval'] : [])],
      })),
    });
  });

  app.get(`${path}/:id`, async (c) => c.json(await actors.state(c.var.owner, c.req.param('id'))));

  app.delete(`${path}/:id`, async (c) => {
    await actors.delete(c.var.owner, c.req.param('id'));
    return c.body(null, 204);
  });

  app.get(`${path}/:id/events`, async (c) => {
    const after = Number(lastEventIdOf(c, /^\d{1,15}$/u, '12') ?? -1);
    return streams.stream(
      c,
      (signal) => actors.states(c.var.owner, c.req.param('id'), signal),
      async function* (states) {
        for await (const { seq, state } of states)
          if (seq > after) yield { id: String(seq), data: JSON.stringify(state) };
      },
    );
  });

  app.post(`${path}/:id/events`, async (c) => {
    const { owner } = c.var;
    const body = await bodyOf(c, eventSchema);
    const event = await accepted(acceptedEvent(body, { events: machine.events, by: owner }));
    if (c.req.query('reply') === 'true')
      return c.json(await actors.ask(owner, c.req.param('id'), event, idempotencyKeyOf(c).idempotencyKey));
    const changed = await actors.send(owner, c.req.param('id'), event, idempotencyKeyOf(c).idempotencyKey);
    return c.json({ changed });
  });

  app.post(`${path}/:id/stop`, async (c) => c.json({ changed: await actors.stop(c.var.owner, c.req.param('id')) }));
}

/** Resolves to the result of a check. Rejects with an `HttpError` 400 that names the first problem. */
async function accepted<Result>(check: Promise<Result>, codes?: readonly string[]): Promise<Result> {
  try {
    return await check;
  } catch (error) {
    const isRefused = PostChainError.isInstance(error) && codes?.includes(error.code) !== false;
    throw isRefused ? invalidRequest(error.message) : error;
  }
}
