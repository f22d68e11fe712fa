import type { MiddlewareHandler } from 'hono';
import type { AnyStateMachine } from 'xstate';
import * as z from 'zod/mini';
import { PostChainError } from '../../machines/contracts/error.ts';
import type { PostChain } from '../chain/create-post-chain.ts';
import { requireKnownCost } from '../chain/runtime/options.ts';
import type { Run } from '../chain/runtime/run.ts';
import { type Clock, systemClock } from '../durable/clock.ts';
import type { DurableMachine } from '../durable/durable-machine.ts';
import { createWorker } from '../durable/worker.ts';
import { describeValue } from '../internal/describe-value.ts';
import { loadOptional } from '../internal/optional-package.ts';
import { clockSchema, functionSchema, hasMethod, parseOption } from '../internal/options.ts';
import { addActorRoutes, type MachineOptions, machinesSchema } from './actor-routes.ts';
import { ActorService } from './actor-service.ts';
import { type AgentOptions, AgentRuns, type AgentRunsOptions, agentsSchema, type RequiredInput } from './agent-runs.ts';
import { failureText } from './agent-updates.ts';
import { allRuns } from './all-runs.ts';
import { inPieces } from './body-stream.ts';
import type { Offer, ServerApp, ServerContext, ServerEnv, ServerRequest, Streams } from './context.ts';
import { HttpError } from './http-error.ts';
import { openApiDocument } from './openapi.ts';
import type { Authorize } from './owners.ts';
import { createRequestQueue } from './pipelining.ts';
import { addAgUi } from './protocols/ag-ui.ts';
import { addAiSdk } from './protocols/ai-sdk.ts';
import { ASK, addMcp } from './protocols/mcp.ts';
import { addOpenAI } from './protocols/openai.ts';
import { addRunRoutes } from './run-routes.ts';
import { RunService } from './run-service.ts';
import type { ServedRuns } from './served-runs.ts';
import { createStreams } from './streams.ts';
import { createUsageLimits, DEFAULT_LIMITS, type ServerLimits, type UsageLimits } from './usage-limits.ts';

/** The machines of agents by their names: the types of their `input` and `reply` follow from them. */
type AgentMachines = Readonly<Record<string, AnyStateMachine>>;

export interface ServerOptions<Agents extends AgentMachines = AgentMachines> {
  /** A chain with `journals`. The server parks its runs while they wait for their user, so that any process with the journals can continue them. */
  readonly chain?: PostChain;
  /**
   * Durable machines, by their names in paths: `/machines/NAME`. The server parks their actors while they only wait. Required if there is no
   * `chain`.
   */
  readonly machines?: Readonly<Record<string, DurableMachine<AnyStateMachine> | MachineOptions>>;
  /**
   * Durable machines that answer requests, by their names: clients of OpenAI's APIs choose one as the model, those of `useChat` and AG-UI by
   * the end of the path, and those of MCP as a tool. Their actors are at `/machines/NAME` too.
   */
  readonly agents?: {
    readonly [Name in keyof Agents]: DurableMachine<Agents[Name]> | AgentOptions<Agents[Name]>;
  } & NoInfer<{
    readonly [Name in keyof Agents]: RequiredInput<Agents[Name]>;
  }>;
  /** Returns the owner of a request, for example `bearerTokens({ [token]: 'alice' })`. */
  readonly authorize: Authorize;
  /** Host names of the server, besides the loopback ones. Requests for any other host are rejected, to prevent DNS rebinding. */
  readonly allowedHosts?: readonly string[];
  /** Origins whose pages may call the server (CORS), such as `https://chat.example.com`. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  /** The name of the chain for clients that choose a model; `postchain` by default. */
  readonly modelName?: string;
  /** Whether owners may read the journals of their runs, which contain prompts, model replies and tool results; false by default. */
  readonly exposeJournal?: boolean;
  /** How often an idle stream sends a comment, in milliseconds; 15,000 by default. */
  readonly keepAliveMs?: number;
  /** How long a client may stop reading its stream before it is disconnected, in milliseconds; 30,000 by default. */
  readonly writeTimeoutMs?: number;
  readonly clock?: Clock;
  /** Called for each run that the server starts or continues at the request of a client, for example `(run) => traceRun(run.events)`. */
  readonly onRun?: (run: Run) => void;
  /** A `Meter` of `@opentelemetry/api`, which receives request durations and the numbers of runs and streams in progress. */
  readonly meter?: ServerMeter;
  /** Receives a line for each request, and errors that clients do not see. By default, errors go to `console.error`. */
  readonly onLog?: (line: ServerLogLine) => void;
}

/** What the server uses of OpenTelemetry's `Meter`, whose package may not be installed. */
interface ServerMeter {
  createHistogram(
    name: string,
    options: { readonly unit: string },
  ): { record(value: number, attributes: Record<string, string | number>): void };
  createObservableGauge(
    name: string,
    options: { readonly description: string },
  ): { addCallback(callback: (gauge: { observe(value: number): void }) => void): void };
}

/** A line of the request log. `durationMs` is the time until the response begins. */
export interface ServerLogLine {
  readonly level: 'info' | 'error';
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly owner: string | null;
  readonly error?: unknown;
}

/** A server of a chain, of agents or of durable machines: a plain `fetch` handler. */
export interface Server {
  /**
   * Answers a request. On Node.js, use `serve({ fetch: server.fetch })` of `@hono/node-server`. With the `bindings` that it passes, the server
   * answers the pipelined requests of a connection one at a time.
   */
  readonly fetch: (request: Request, bindings?: unknown) => Promise<Response>;
  /** Ends all streams and closes the runs and actors, so that any process with the journals can continue them. */
  close(): Promise<void>;
}

const limit = z.optional(
  z.custom((value) => typeof value === 'number' && value >= 0, 'expected a number of at least 0'),
);
const interval = z.optional(z.number().check(z.gt(0), z.lt(2 ** 31)));
const listOf = (form: RegExp, expected: string) => z.optional(z.array(z.string().check(z.regex(form, expected))));

/** Strict: a misspelled option would be ignored silently. */
const optionsSchema = z.strictObject({
  chain: z.optional(hasMethod('run', 'expected a chain made by createPostChain')),
  machines: z.optional(machinesSchema),
  agents: z.optional(agentsSchema),
  authorize: z.custom(
    (value) => typeof value === 'function',
    'expected a function that returns the owner of a request, for example bearerTokens({ [token]: "alice" })',
  ),
  allowedHosts: listOf(/^(?:[^\s/:*]+|\[[\da-f:]+\])$/iu, 'expected a host name without a port'),
  allowedOrigins: listOf(/^[a-z][\w+.-]*:\/\/[^\s/*A-Z]+$/u, 'expected an origin such as "https://chat.example.com"'),
  limits: z.optional(z.strictObject(Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, limit])))),
  modelName: z.optional(z.string().check(z.regex(/^\S+$/u, 'expected a name without spaces'))),
  exposeJournal: z.optional(z.boolean()),
  keepAliveMs: interval,
  writeTimeoutMs: interval,
  onRun: z.optional(functionSchema),
  clock: z.optional(clockSchema),
  meter: z.optional(hasMethod('createHistogram', 'expected a Meter of @opentelemetry/api')),
  onLog: z.optional(functionSchema),
});

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Returns a server for a chain, durable machines, or both. Runs and actors live on the server, so a client can disconnect, return, and continue
 * where it left off. The server also continues the interrupted runs and the interrupted or due actors of the stores. Requires the package `hono`.
 *
 * @throws PostChainError `invalid_option` or `package_missing`
 * @example
 * const server = await createServer({ chain, machines: { order: orders }, authorize: bearerTokens({ [token]: 'alice' }) });
 * serve({ fetch: server.fetch, hostname: '127.0.0.1', port: 8787 });
 */
export async function createServer<Agents extends AgentMachines>(given: ServerOptions<Agents>): Promise<Server> {
  const options = given as ServerOptions;
  parseOption(optionsSchema, options, 'options');
  const { chain, exposeJournal = false, modelName = 'postchain', onRun = () => {} } = options;
  const { clock = systemClock, keepAliveMs = 15_000, writeTimeoutMs = 30_000, onLog = logErrors } = options;
  const limits: ServerLimits = { ...DEFAULT_LIMITS, ...options.limits };
  const agents = namedIn<AgentOptions>(options.agents);
  const named = [
    ...namedIn<MachineOptions>(options.machines),
    // The context of an agent may contain prompts, and errors that its chart handles.
    ...agents.map(({ input: _, view = () => null, ...shown }) => ({
      ...{ ...shown, view, failureText },
      isAgent: true as const,
    })),
  ];
  requireNames(options, named, modelName);
  if (agents.length > 0 && limits.costPerDay < Number.POSITIVE_INFINITY)
    throw new PostChainError(
      'invalid_option',
      'limits.costPerDay: expected none with agents, because their cost is unknown. Use `budget` in their charts.',
    );
  if (chain && limits.costPerDay < Number.POSITIVE_INFINITY) requireKnownCost(chain.options, 'limits.costPerDay');
  const { toJSONSchema: toJsonSchema } = await import('zod');
  const usage = createUsageLimits(limits, clock);
  const closing = new AbortController();
  const timing = { clock, keepAliveMs, writeTimeoutMs };
  const streams = createStreams({
    ...timing,
    usage,
    closing: closing.signal,
    onError: (c, error) => onLog({ ...lineOf(c.req.raw, 500), level: 'error', owner: c.var.owner ?? null, error }),
  });
  const { eventsPerRun } = limits;
  const chainRuns = chain && new RunService({ name: modelName, chain, clock, usage, eventsPerRun, onRun });
  const agentRuns = new Map<string, AgentRuns>();
  const served = named.map((machine) => ({
    machine,
    actors: new ActorService({
      ...{ machine, clock, usage, eventsPerRun },
      onOpen: (actor) => void agentRuns.get(machine.name)?.reportFailure(actor),
    }),
  }));
  const describe: AppParts['describe'] = (routes) => openApiDocument(routes, named, toJsonSchema);
  const app = await createApp({ options, limits, usage, streams, clock, onLog, closing: closing.signal, describe });
  for (const { machine, actors } of served) addActorRoutes(app, streams, machine, actors);
  for (const agent of agents) {
    const { actors } = served.find(({ machine }) => machine.name === agent.name) as (typeof served)[number];
    agentRuns.set(agent.name, new AgentRuns({ agent, actors, usage, eventsPerRun, onFailure: failureLog(onLog) }));
  }
  const all = new Map<string, ServedRuns>([...(chainRuns ? ([[modelName, chainRuns]] as const) : []), ...agentRuns]);
  if (all.size > 0) {
    const { errorFor } = streams;
    const defaultName = chain ? modelName : (agents.length === 1 && agents[0]?.name) || null;
    const runs = allRuns(all, defaultName);
    const open = (c: ServerRequest, runId: string) => (signal: AbortSignal) => runs.updates(c.var.owner, runId, signal);
    const context: ServerContext = {
      runs,
      clock,
      toJsonSchema,
      offers: [...(chain ? [{ ...ASK, name: modelName, path: '' }] : []), ...agents.map(offerOf)],
      defaultName,
      errorFor,
      read: (c, runId, use) => streams.read(c, open(c, runId), use),
      stream: (c, runId, convert, headers) => streams.stream(c, open(c, runId), convert, headers),
    };
    addRunRoutes(app, context, exposeJournal);
    for (const addProtocol of [addOpenAI, addAiSdk, addAgUi, addMcp]) addProtocol(app, context);
  }

  const hosts = new Set(named.map(({ host }) => host));
  const worker = createWorker({
    hosts: [...(chain ? [chain] : []), ...hosts],
    clock,
    onEvent({ type, ...event }) {
      if (type === 'idle' && 'id' in event) for (const runs of agentRuns.values()) void runs.reportStored(event.id);
    },
  });
  const queued = createRequestQueue();
  return {
    fetch: (request, bindings) => queued(bindings, async () => inPieces(await app.fetch(request), timing)),
    async close() {
      usage.close();
      closing.abort();
      await Promise.all([worker.stop(), chain?.close(), ...served.map(({ actors }) => actors.close())]);
    },
  };
}

/** Returns durable machines with their names and options. */
function namedIn<Options extends { readonly host: DurableMachine<AnyStateMachine> }>(
  given: Readonly<Record<string, DurableMachine<AnyStateMachine> | Options>> = {},
): readonly (Options & { readonly name: string })[] {
  return Object.entries(given).map(([name, one]) => ({
    ...('host' in one ? (one as Options) : ({ host: one } as Options)),
    name,
  }));
}

/** Throws `invalid_option` if there is nothing to serve, or if two things have the same name. */
function requireNames({ chain, agents = {} }: ServerOptions, named: readonly { name: string }[], model: string): void {
  if (chain === undefined && named.length === 0)
    throw new PostChainError(
      'invalid_option',
      'chain: expected a chain, or durable machines as "machines" or "agents"; received none.',
    );
  const taken = chain ? [model, 'ask'] : [];
  for (const name of Object.keys(agents))
    if (taken.includes(name) || named.filter((one) => one.name === name).length > 1)
      throw new PostChainError(
        'invalid_option',
        `agents.${name}: expected a name other than that of the chain, its tool "ask" and the machines; received ${describeValue(name)}.`,
      );
}

/** Returns how clients choose an agent. */
function offerOf({ name, host }: AgentOptions & { readonly name: string }): Offer {
  const description = host.machine.root.description ?? `Answers a request with the agent "${name}".`;
  return { name, path: `/${name}`, tool: { name, title: name, description, remembers: false } };
}

interface AppParts {
  readonly options: ServerOptions;
  readonly limits: ServerLimits;
  readonly usage: UsageLimits;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly onLog: (line: ServerLogLine) => void;
  readonly closing: AbortSignal;
  /** Returns the OpenAPI document. */
  readonly describe: (routes: ServerApp['routes']) => object;
}

/** Returns an app that logs, checks and limits requests. Its routes are added afterwards. */
async function createApp(parts: AppParts): Promise<ServerApp> {
  const { options, limits, usage, streams, clock, onLog, closing, describe } = parts;
  const [{ Hono }, { bodyLimit }, { cors }, { secureHeaders }] = await loadOptional('hono', 'createServer', () =>
    Promise.all([import('hono'), import('hono/body-limit'), import('hono/cors'), import('hono/secure-headers')]),
  );
  const { authorize, allowedHosts = [], allowedOrigins = [], meter } = options;
  const app: ServerApp = new Hono<ServerEnv>();
  app.onError((error, c) => {
    const shown = streams.errorFor(c, error);
    // HTTP adapters close the connection of a client whose body is not read. The header tells the client not to use it again.
    const unread = c.req.method === 'POST' && (shown.status === 413 || !c.req.raw.bodyUsed);
    const headers = { ...shown.headers, ...(unread && { connection: 'close' }) };
    return Response.json(errorBody(c.req.path, shown), { status: shown.status, headers });
  });
  app.notFound((c) => {
    throw new HttpError(404, 'not_found', `There is no endpoint ${describeValue(c.req.path)}. See GET /openapi.json.`);
  });
  app.use(logged(clock, measured(meter, usage, onLog)), secureHeaders());
  app.use(rejectForeignSites(allowedHosts, allowedOrigins));
  if (allowedOrigins.length > 0) app.use(cors({ origin: [...allowedOrigins], exposeHeaders: EXPOSED_HEADERS }));
  app.get('/healthz', (c) =>
    c.json({ status: closing.aborted ? 'closing' : 'ok', runs: usage.runs, streams: usage.streams }),
  );
  let described: object | null = null;
  app.get('/openapi.json', (c) => {
    described ??= describe(app.routes);
    return c.json(described);
  });
  app.use(async (c, next) => {
    usage.requireOpen();
    const owner = await authorize(c.req.raw);
    // In JavaScript, `authorize` may return undefined, for example from a lookup.
    if (typeof owner !== 'string' || owner === '')
      throw new HttpError(401, 'unauthorized', 'Not authorized. Send a token of this server as "Bearer TOKEN".', {
        'www-authenticate': 'Bearer',
      });
    c.set('owner', owner);
    usage.request(owner);
    await next();
  });
  app.use(
    bodyLimit({
      maxSize: limits.bodyBytes,
      onError: () => {
        throw new HttpError(413, 'body_too_large', `body: expected at most ${limits.bodyBytes} bytes; received more.`);
      },
    }),
  );
  return app;
}

/** The response headers that pages of other origins may read. */
const EXPOSED_HEADERS = ['location', 'retry-after', 'x-workflow-run-id', 'x-workflow-stream-tail-index'];

/** Returns the body of an error response. OpenAI's APIs have their own error format. */
function errorBody(path: string, { status, code, message, param }: HttpError): object {
  if (!path.startsWith('/v1/')) return { code, message };
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  return { error: { message, type, code, param } };
}

/**
 * Rejects requests from pages of other sites: by their Origin, and by their Host, which differs if another name was bound to this address
 * (DNS rebinding). Clients other than browsers send no Origin.
 */
function rejectForeignSites(allowedHosts: readonly string[], allowedOrigins: readonly string[]): MiddlewareHandler {
  const known = new Set([...LOOPBACK, ...allowedHosts].map((host) => host.toLowerCase()));
  return async (c, next) => {
    const host = (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase();
    if (!known.has(host.replace(/:\d+$/u, '')))
      throw new HttpError(
        403,
        'host_not_allowed',
        `Host: ${describeValue(host)} is not allowed. Add it to \`allowedHosts\`, or pass --allow-host to postchain serve.`,
      );
    const origin = c.req.header('origin');
    const isOwn = origin === undefined || allowedOrigins.includes(origin) || hostOf(origin) === host;
    if (!isOwn)
      throw new HttpError(
        403,
        'origin_not_allowed',
        `Origin: ${describeValue(origin)} is not allowed. Add it to \`allowedOrigins\`, or pass --origin to postchain serve.`,
      );
    await next();
  };
}

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);

function logged(clock: Clock, onLog: (line: ServerLogLine) => void): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const startMs = clock.now();
    await next();
    const durationMs = Math.round(clock.now() - startMs);
    onLog({ ...lineOf(c.req.raw, c.res.status), durationMs, owner: c.var.owner ?? null });
  };
}

/** Returns an `onLog` that also reports each line to OpenTelemetry, following its semantic conventions for HTTP servers. */
function measured(
  meter: ServerMeter | undefined,
  usage: UsageLimits,
  onLog: (line: ServerLogLine) => void,
): (line: ServerLogLine) => void {
  if (meter === undefined) return onLog;
  const duration = meter.createHistogram('http.server.request.duration', { unit: 's' });
  for (const what of ['runs', 'streams'] as const)
    meter
      .createObservableGauge(`postchain.server.${what}`, { description: `${what} in progress` })
      .addCallback((gauge) => gauge.observe(usage[what]));
  return (line) => {
    duration.record(line.durationMs / 1_000, {
      'http.request.method': line.method,
      'http.response.status_code': line.status,
    });
    onLog(line);
  };
}

/** Returns the log line of a request. It omits the query of the URL, which may contain user input. */
function lineOf({ method, url }: Request, status: number): ServerLogLine {
  return { level: 'info', method, path: new URL(url).pathname, status, durationMs: 0, owner: null };
}

/** Returns a function that logs why a run of an agent failed. No request fails with it. */
const failureLog =
  (onLog: (line: ServerLogLine) => void): AgentRunsOptions['onFailure'] =>
  (owner, runId, error) =>
    onLog({ level: 'error', method: 'RUN', path: `/runs/${runId}`, status: 500, durationMs: 0, owner, error });

function logErrors({ level, error }: ServerLogLine): void {
  // biome-ignore lint/suspicious/noConsole: the operator must see errors that are hidden from clients
  if (level === 'error') console.error(error);
}
