import * as z from 'zod/mini';
import { clientEventSchema } from '../../machines/contracts/events.ts';
import { phaseSchema } from '../../machines/contracts/phase.ts';
import { finalAnswerSchema } from '../../machines/contracts/synthesis.ts';
import manifest from '../../package.json' with { type: 'json' };
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
      status: z.enum(['completed', 'degraded', 'cancelled', 'running', 'waiting', 'interrupted', 'damaged']),
      waitingFor: z.nullable(z.string()),
    }),
  ),
});

const SCHEMAS = {
  NewRun: newRunSchema,
  StartedRun: z.object({ runId: z.string() }),
  RunList: listSchema,
  Run: runViewSchema,
  RunUpdate: runUpdateSchema,
  ClientEvent: clientEventSchema,
  Error: z.object({ code: z.string(), message: z.string() }),
} as const;

const ref = (name: keyof typeof SCHEMAS) => ({ $ref: `#/components/schemas/${name}` });
const json = (name: keyof typeof SCHEMAS) => ({ 'application/json': { schema: ref(name) } });
const answers = (status: number, description: string, content?: object) => ({
  [status]: { description, ...(content && { content }) },
  default: { description: 'The request failed.', content: json('Error') },
});
const parameter = (name: string, where: 'path' | 'query' | 'header', description: string) => ({
  name,
  in: where,
  required: where === 'path',
  description,
  schema: { type: 'string' },
});
const runId = parameter('id', 'path', 'The id of a run.');
const stream = { 'text/event-stream': { schema: { type: 'string' } } };

/** Returns the OpenAPI 3.1 document of the endpoints of runs, generated from the schemas that the server validates with. */
export function openApiDocument(toJsonSchema: ToJsonSchema): object {
  const idempotency = parameter('Idempotency-Key', 'header', 'Requests with the same key get the same run.');
  const after = parameter('Last-Event-ID', 'header', 'The id of the last update that the client received.');
  return {
    openapi: '3.1.0',
    info: { title: 'PostChain server', version: manifest.version },
    security: [{ bearer: [] }],
    paths: {
      '/runs': {
        post: {
          summary: 'Starts a run. With "Accept: text/event-stream", the response streams it.',
          parameters: [idempotency],
          requestBody: { required: true, content: json('NewRun') },
          responses: answers(201, 'The run has started.', { ...json('StartedRun'), ...stream }),
        },
        get: {
          summary: 'Lists your runs, newest first.',
          parameters: [
            parameter('limit', 'query', 'From 1 to 100; 20 by default.'),
            parameter('before', 'query', 'Only runs that started before this time (ISO 8601).'),
          ],
          responses: answers(200, 'The runs.', json('RunList')),
        },
      },
      '/runs/{id}': {
        get: { summary: 'Returns a run.', parameters: [runId], responses: answers(200, 'The run.', json('Run')) },
      },
      '/runs/{id}/events': {
        get: {
          summary: 'Streams a run from its beginning, or after an update. The data of each event is a RunUpdate.',
          parameters: [runId, after],
          responses: answers(200, 'The updates.', stream),
        },
        post: {
          summary: 'Answers a question of the run, or directs, finishes or cancels it.',
          parameters: [runId],
          requestBody: { required: true, content: json('ClientEvent') },
          responses: answers(204, 'The event is stored.'),
        },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: Object.fromEntries(
        Object.entries(SCHEMAS).map(([name, schema]) => {
          const { $schema: _, ...rest } = toJsonSchema(schema, { unrepresentable: 'any', io: 'input' });
          return [name, rest];
        }),
      ),
    },
  };
}
