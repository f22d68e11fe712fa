import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import { type PostChain, PostChainError, type Run } from 'postchain';
import { clientEventSchema, refusalText } from 'postchain/machines';
import * as z from 'zod';
import { HttpError, readBody } from './http-error.ts';
import { ownHostOnly } from './same-site.ts';
import { streamRun } from './stream-run.ts';

export interface ServiceOptions {
  /** The token that callers send as `Authorization: Bearer …`. Without it, the service needs no authorization. */
  readonly token?: string | undefined;
  /** Returns the id of the caller's session, from your own login and never from what the caller chooses. By default, a run has no session. */
  readonly sessionOf?: (request: Request) => string | undefined;
  /** Host names of the service, in addition to the loopback ones. */
  readonly hosts?: readonly string[];
  /** Default: 1 MB. */
  readonly maxBodyBytes?: number;
  /** Concurrent runs. Default: 100. */
  readonly maxRuns?: number;
  /** Events that a client may send to one run, because a run keeps each of them. Default: 200. */
  readonly maxEvents?: number;
  /** How long a client may read nothing before it is disconnected, in milliseconds. Default: 30,000. */
  readonly stallMs?: number;
}

const turnSchema = z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() });

const requestSchema = z.strictObject({
  request: z.string(),
  history: z.array(turnSchema).max(1_000).optional(),
});

/** Serves a chain over HTTP: one run per request, streamed as server-sent events. */
export function createApp(
  chain: Pick<PostChain, 'run'>,
  options: ServiceOptions = {},
): Hono<{ Bindings: HttpBindings }> {
  const { token, sessionOf, hosts = [], maxBodyBytes = 1_000_000, maxRuns = 100 } = options;
  const { maxEvents = 200, stallMs = 30_000 } = options;
  const runs = new Map<string, Run>();
  const events = new WeakMap<Run, number>();
  const app = new Hono<{ Bindings: HttpBindings }>();

  app.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    const known = error instanceof HttpError || error instanceof PostChainError;
    if (!known) console.error(error);
    const { code, message } = known ? error : { code: 'internal', message: 'The service failed; see its log.' };
    return c.json({ code, message }, error instanceof HttpError ? error.status : known ? 400 : 500);
  });
  app.notFound(() => {
    throw new HttpError(404, 'not_found', 'Not found: use POST /runs, POST /runs/:id/events or GET /healthz.');
  });

  app.use(secureHeaders(), ownHostOnly(hosts));
  app.get('/healthz', (c) => c.json({ status: 'ok', runs: runs.size }));
  if (token !== undefined) app.use('/runs/*', bearerAuth({ token, ...UNAUTHORIZED }));
  app.use(
    bodyLimit({
      maxSize: maxBodyBytes,
      onError: () => {
        throw new HttpError(413, 'body_too_large', `The body must be at most ${maxBodyBytes} bytes.`);
      },
    }),
  );

  app.post('/runs', async (c) => {
    const { request, history = [] } = await readBody(c, requestSchema);
    if (runs.size >= maxRuns)
      throw new HttpError(503, 'too_many_runs', `The limit of ${maxRuns} concurrent runs is reached; try again later.`);
    const { signal } = c.req.raw;
    const sessionId = sessionOf?.(c.req.raw);
    const run = chain.run({ request, history, signal, ...(sessionId !== undefined && { sessionId }) });
    runs.set(run.runId, run);
    run.answer.finally(() => runs.delete(run.runId));
    return streamRun(c, run, stallMs);
  });

  app.post('/runs/:id/events', async (c) => {
    const event = await readBody(c, clientEventSchema);
    const run = runs.get(c.req.param('id'));
    if (run === undefined) throw new HttpError(404, 'unknown_run', 'No live run has this id.');
    const sent = events.get(run) ?? 0;
    if (sent >= maxEvents)
      throw new HttpError(429, 'too_many_events', `A run accepts at most ${maxEvents} events from its client.`);
    events.set(run, sent + 1);
    const { length } = run.journal;
    run.send(event);
    const refused = run.journal.slice(length).find((entry) => entry.type === 'answer-refused');
    if (refused !== undefined) throw new HttpError(409, 'answer_refused', `Nothing changed: ${refusalText(refused)}.`);
    return c.body(null, 204);
  });

  return app;
}

const unauthorized = { message: { code: 'unauthorized', message: 'Send the token as "Authorization: Bearer …".' } };
const UNAUTHORIZED = {
  noAuthenticationHeader: unauthorized,
  invalidAuthenticationHeader: unauthorized,
  invalidToken: unauthorized,
};
