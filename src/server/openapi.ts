import type { StandardSchemaV1 } from '@standard-schema/spec';
import * as z from 'zod/mini';
import { clientEventSchema } from '../../machines/contracts/events.ts';
import { phaseSchema } from '../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../machines/contracts/synthesis.ts';
import manifest from '../../package.json' with { type: 'json' };
import { approvalSchema } from '../internal/accepted-events.ts';
import type { NamedMachine } from './actor-routes.ts';
import type { ActorState } from './actor-states.ts';
import type { ToJsonSchema } from './context.ts';
import { newRunSchema } from './run-routes.ts';
import type { RunView } from './run-view.ts';
import { questionSchema, runUpdateSchema } from './updates.ts';

const progress = z.enum(['started', 'ended', 'failed']);
const runViewSchema: z.ZodMiniType<RunView> = z.object({
  runId: z.string(),
  request: z.string(),
  startedAt: z.string(),
  status: z.enum(['running', 'waiting', 'ended']),
  phases: z.array(z.object({ phase: phaseSchema, cycle: z.int(), state: progress, summary: z.nullable(z.string()) })),
  progress: z.nullable(z.string()),
  tools: z.array(z.object({ index: z.int(), name: z.string(), state: progress })),
  text: z.string(),
  decisions: z.array(z.string()),
  questions: z.array(questionSchema),
  answer: z.nullable(finalAnswerSchema),
});

const listSchema = z.object({
  runs: z.array(
    z.object({
      runId: z.string(),
      request: z.string(),
      startedAt: z.string(),
      status: z.enum(['completed', 'degraded', 'cancelled', 'running', 'waiting', 'interrupted', 'queued', 'damaged']),
      waitingFor: z.nullable(z.string()),
    }),
  ),
});

const actorStateSchema: z.ZodMiniType<ActorState> = z.object({
  id: z.string(),
  machine: z.string(),
  status: z.enum(['running', 'waiting', 'done', 'error', 'stopped']),
  value: z.union([z.string(), z.record(z.string(), z.any())]),
  context: z.unknown(),
  tags: z.array(z.string()),
  output: z.unknown(),
  error: z.unknown(),
  pending: z.object({
    events: z.array(z.string()),
    approvals: z.array(z.object({ id: z.string(), digest: z.string(), question: z.json(), askedAtMs: z.number() })),
    dueAtMs: z.nullable(z.number()),
  }),
});

const SCHEMAS = {
  NewRun: newRunSchema,
  StartedRun: z.object({ runId: z.string() }),
  RunList: listSchema,
  Run: runViewSchema,
  RunUpdate: runUpdateSchema,
  ClientEvent: clientEventSchema,
  StartedActor: z.object({ id: z.string() }),
  ActorList: z.object({
    actors: z.array(
      z.object({
        id: z.string(),
        startedAt: z.string(),
        status: z.string(),
        attributes: z.record(z.string(), z.unknown()),
        waitingFor: z.nullable(z.array(z.string())),
      }),
    ),
  }),
  ActorState: actorStateSchema,
  Approval: approvalSchema,
  Changed: z.object({ changed: z.boolean() }),
  Object: z.looseObject({}),
  Error: z.object({ code: z.string(), message: z.string() }),
} as const;

type SchemaName = keyof typeof SCHEMAS;

const ref = (name: SchemaName) => ({ $ref: `#/components/schemas/${name}` });
const content = (schema: object) => ({ 'application/json': { schema } });
const json = (name: SchemaName) => content(ref(name));
const body = (contents: object) => ({ requestBody: { required: true, content: contents } });
const answers = (description: string, contents?: object, status = 200) => ({
  responses: {
    [status]: { description, ...(contents && { content: contents }) },
    default: { description: 'The request failed.', content: json('Error') },
  },
});
const starts = (name: SchemaName, other: object = {}) => {
  const before = answers('Started by an earlier request, or streamed.', { ...json(name), ...other });
  return { responses: { ...answers('Started and stored.', json(name), 201).responses, ...before.responses } };
};
const parameter = (name: string, where: 'path' | 'query' | 'header', description: string) => ({
  name,
  in: where,
  required: where === 'path',
  description,
  schema: { type: 'string' },
});
const stream = { 'text/event-stream': { schema: { type: 'string' } } };
const streamOf = (name: SchemaName) => ({
  'text/event-stream': { schema: { type: 'string', contentSchema: ref(name) } },
});

const idempotency = parameter('Idempotency-Key', 'header', 'Requests with the same key take effect once.');
const after = parameter('Last-Event-ID', 'header', 'The id of the last event that the client received.');
const reply = parameter('reply', 'query', 'true: returns the state after the step; 409 if no transition is taken.');
const page = [
  parameter('limit', 'query', 'From 1 to 100; 20 by default.'),
  parameter('before', 'query', 'Only those that started before this time (ISO 8601).'),
];

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly ReturnType<typeof parameter>[];
}

const jsonOrStream = { ...json('Object'), ...stream };

/** What each route of a protocol with its own documentation does, and the kinds of its response. */
const PROTOCOLS: Readonly<Record<string, readonly [summary: string, response: object]>> = {
  'GET /v1/models': ['OpenAI: lists the models.', json('Object')],
  'GET /v1/models/:id': ['OpenAI: returns a model.', json('Object')],
  'POST /v1/responses': ['OpenAI Responses: creates a response.', jsonOrStream],
  'GET /v1/responses/:id': ['OpenAI Responses: returns a response, or streams it with "?stream=true".', jsonOrStream],
  'GET /v1/responses/:id/input_items': ['OpenAI Responses: lists the input items of a response.', json('Object')],
  'DELETE /v1/responses/:id': ['OpenAI Responses: deletes a response that has ended.', json('Object')],
  'POST /v1/responses/:id/cancel': ['OpenAI Responses: cancels a response.', json('Object')],
  'POST /v1/chat/completions': ['OpenAI Chat Completions: creates a completion.', jsonOrStream],
  'POST /api/chat': ['AI SDK: answers the last message of "useChat".', stream],
  'GET /api/chat/:id/stream': ['AI SDK: streams the run of a conversation again, from "?startIndex=N".', stream],
  'POST /ag-ui': ['AG-UI: runs the agent.', stream],
  'POST /mcp': ['Model Context Protocol: Streamable HTTP with the tool "ask".', jsonOrStream],
};

const protocolOperations = Object.entries(PROTOCOLS).map(([route, [summary, response]]) => [
  route,
  {
    summary,
    ...(route.startsWith('POST') && body(json('Object'))),
    ...answers('The response of the protocol.', response),
  },
]);

/** The operations of a server, by their route. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /healthz': {
    summary: 'Returns whether the server is running. Needs no token.',
    ...answers('The state of the server.', json('Object')),
  },
  'GET /openapi.json': { summary: 'Returns this document. Needs no token.', ...answers('OpenAPI.', json('Object')) },
  'POST /runs': {
    summary: 'Starts a run. With "Accept: text/event-stream", the response streams it.',
    parameters: [idempotency],
    ...body(json('NewRun')),
    ...starts('StartedRun', stream),
  },
  'GET /runs': {
    summary: 'Lists your runs, newest first.',
    parameters: page,
    ...answers('The runs.', json('RunList')),
  },
  'GET /runs/:id': { summary: 'Returns a run.', ...answers('The run.', json('Run')) },
  'GET /runs/:id/events': {
    summary: 'Streams a run from its beginning, or after an update. The data of each event is a RunUpdate.',
    parameters: [after],
    ...answers('The updates.', streamOf('RunUpdate')),
  },
  'POST /runs/:id/events': {
    summary: 'Answers a question of the run, or directs, finishes or cancels it.',
    ...body(json('ClientEvent')),
    ...answers('The event is stored.', undefined, 204),
  },
  'GET /runs/:id/journal': { summary: 'Returns the journal of a run.', ...answers('The entries.', json('Object')) },
  ...Object.fromEntries(protocolOperations),
};

const ANY_EVENT = { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] };

/** How a new actor is enqueued. */
const QUEUED = { queued: { type: 'boolean' }, priority: { type: 'integer' }, delayMs: { type: 'number' } };

type ToJson = (schema: StandardSchemaV1 | z.ZodMiniType) => object;

/** Returns the operations of the actors of a machine. */
function machineOperations({ name, events, input }: NamedMachine, toJson: ToJson): Readonly<Record<string, Operation>> {
  const path = `/machines/${name}`;
  const event = (type: string, schema: StandardSchemaV1) => {
    const { properties, required = [], ...rest } = toJson(schema) as { properties?: object; required?: string[] };
    return {
      type: 'object',
      ...rest,
      properties: { type: { const: type }, ...properties },
      required: ['type', ...required],
    };
  };
  const known = Object.entries(events ?? {}).map(([type, schema]) => event(type, schema));
  return {
    [`POST ${path}`]: {
      summary: `Starts an actor of "${name}".`,
      parameters: [idempotency],
      ...body(content({ type: 'object', properties: { input: input ? toJson(input) : {}, ...QUEUED } })),
      ...starts('StartedActor'),
    },
    [`GET ${path}`]: {
      summary: `Lists your actors of "${name}", newest first.`,
      parameters: [...page, parameter('where', 'query', 'name=value: only those with this attribute; repeatable.')],
      ...answers('The actors.', json('ActorList')),
    },
    [`GET ${path}/:id`]: { summary: 'Returns the state of an actor.', ...answers('The state.', json('ActorState')) },
    [`DELETE ${path}/:id`]: {
      summary: 'Deletes an actor that has ended.',
      ...answers('It is deleted.', undefined, 204),
    },
    [`GET ${path}/:id/events`]: {
      summary: 'Streams the state of an actor after each change. The data of each event is an ActorState.',
      parameters: [after],
      ...answers('The states.', streamOf('ActorState')),
    },
    [`POST ${path}/:id/events`]: {
      summary: 'Sends an event to an actor, or answers one of its approvals.',
      parameters: [idempotency, reply],
      ...body(content({ anyOf: [...(events ? known : [ANY_EVENT]), ref('Approval')] })),
      ...answers('The event is stored and processed.', content({ anyOf: [ref('Changed'), ref('ActorState')] })),
    },
    [`POST ${path}/:id/stop`]: {
      summary: 'Ends an actor, with the status "stopped". Its calls in progress are aborted.',
      ...answers('The actor has ended.', json('Changed')),
    },
  };
}

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Returns the OpenAPI 3.1 document of the routes of a server, generated from the schemas that it validates with. */
export function openApiDocument(
  routes: readonly Route[],
  machines: readonly NamedMachine[],
  toJsonSchema: ToJsonSchema,
): object {
  const toJson: ToJson = (schema) => {
    if (!('_zod' in schema)) return {};
    const { $schema: _, ...rest } = toJsonSchema(schema as z.ZodMiniType, { unrepresentable: 'any', io: 'input' });
    return rest;
  };
  const operations = Object.assign({}, OPERATIONS, ...machines.map((machine) => machineOperations(machine, toJson)));
  const paths: Record<string, Record<string, object>> = {};
  for (const { method: of, path } of routes) {
    // Middleware has no method and the path "/*".
    if (path.endsWith('*')) continue;
    const method = of === 'ALL' ? 'POST' : of;
    const { parameters = [], ...operation } =
      operations[`${method} ${path}`] ?? operations[`${method} ${path.replace(/\/[^/]+$/u, '')}`] ?? {};
    const ids = path.includes('/:id') ? [parameter('id', 'path', 'The id.')] : [];
    const at = path.replace(/:(\w+)/gu, '{$1}');
    paths[at] = { ...paths[at], [method.toLowerCase()]: { ...operation, parameters: [...ids, ...parameters] } };
  }
  const used = JSON.stringify(paths);
  const schemas = Object.entries(SCHEMAS).filter(([name]) => used.includes(`"#/components/schemas/${name}"`));
  return {
    openapi: '3.1.0',
    info: { title: 'PostChain server', version: manifest.version },
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(schemas.map(([name, schema]) => [name, toJson(schema)])),
    },
  };
}
