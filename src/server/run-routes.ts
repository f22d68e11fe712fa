import * as z from 'zod/mini';
import { clientEventSchema, shallowObjectSchema } from '../../machines/contracts/events.ts';
import { clientToolsSchema } from '../chain/runtime/run-options.ts';
import type { ContentPart } from '../llm/content.ts';
import {
  bodyOf,
  idempotencyKeyOf,
  lastEventIdOf,
  pageOf,
  type ServerApp,
  type ServerContext,
  type ServerRequest,
} from './context.ts';
import { viewOf } from './run-view.ts';
import type { ClientRequest } from './served-runs.ts';
import { isAfter } from './updates.ts';

const text = z.string().check(z.maxLength(1_000_000));
/** Text, an image or a file. Files are Base64 text or `data:` URLs, because the server downloads nothing. */
const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text }),
  z.strictObject({ type: z.literal('image'), image: z.string(), mediaType: z.optional(z.string()) }),
  z.strictObject({
    type: z.literal('file'),
    data: z.string(),
    mediaType: z.optional(z.string()),
    filename: z.optional(z.string()),
  }),
]);
const contentSchema = z.union(
  [text, z.array(partSchema).check(z.maxLength(100))],
  'expected text or an array of parts',
);

export const newRunSchema = z.strictObject({
  request: contentSchema,
  /** Earlier turns, oldest first. */
  history: z.optional(
    z.array(z.strictObject({ role: z.enum(['user', 'assistant']), content: contentSchema })).check(z.maxLength(1_000)),
  ),
  /** The name of the chain or agent; by default the chain, or the only agent. */
  agent: z.optional(z.string()),
  instructions: z.optional(z.string().check(z.maxLength(20_000))),
  clientTools: z.optional(clientToolsSchema),
  /** A JSON Schema: the answer also gets a `value`. */
  answer: z.optional(shallowObjectSchema),
  /** `manual`: after each cycle, the run waits for the user's direction. */
  mode: z.optional(z.enum(['automatic', 'manual'])),
  /** The session that the run belongs to; the client chooses its name. */
  session: z.optional(z.string().check(z.minLength(1), z.maxLength(200))),
});

/** Adds the endpoints of runs. */
export function addRunRoutes(app: ServerApp, server: ServerContext, exposeJournal: boolean): void {
  const { runs } = server;

  app.post('/runs', async (c) => {
    const { request, history, ...options } = await bodyOf(c, newRunSchema);
    const asked = {
      ...options,
      request: request as string | ContentPart[],
      ...(history && { history }),
      ...idempotencyKeyOf(c),
    } as ClientRequest;
    const { runId, isNew } = await runs.start(c.var.owner, asked);
    const location = `/runs/${encodeURIComponent(runId)}`;
    if (wantsEvents(c)) return streamUpdates(c, server, runId, { location });
    c.header('location', location);
    return c.json({ runId }, isNew ? 201 : 200);
  });

  app.get('/runs', async (c) => {
    const found = await runs.list(c.var.owner, pageOf(c));
    return c.json({
      runs: found.map(({ id: runId, request, startedAt, status, waitingFor }) => ({
        runId,
        request,
        startedAt,
        status,
        waitingFor,
      })),
    });
  });

  app.get('/runs/:id', async (c) => c.json(viewOf((await runs.stored(c.var.owner, c.req.param('id'))).updates)));

  app.get('/runs/:id/events', (c) => streamUpdates(c, server, c.req.param('id')));

  app.post('/runs/:id/events', async (c) => {
    await runs.send(c.var.owner, c.req.param('id'), await bodyOf(c, clientEventSchema));
    return c.body(null, 204);
  });

  if (exposeJournal)
    app.get('/runs/:id/journal', async (c) => c.json({ entries: await runs.journal(c.var.owner, c.req.param('id')) }));
}

const wantsEvents = (c: ServerRequest): boolean => c.req.header('accept')?.includes('text/event-stream') === true;

/** Streams the updates that follow the last one the client received. */
async function streamUpdates(
  c: ServerRequest,
  server: ServerContext,
  runId: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const after = lastEventIdOf(c, /^\d+\.\d+$/u, '12.0');
  return server.stream(
    c,
    runId,
    async function* (updates) {
      for await (const { id, update } of updates)
        if (after === null || isAfter(id, after)) yield { id, data: JSON.stringify(update) };
    },
    headers,
  );
}
