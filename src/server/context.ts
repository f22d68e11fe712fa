import type { Context, Hono } from 'hono';
import type * as z from 'zod/mini';
import { firstChars } from '../../machines/text/clip.ts';
import type { Clock } from '../durable/clock.ts';
import { describeValue } from '../internal/describe-value.ts';
import { invalidOption } from '../internal/options.ts';
import { HttpError } from './http-error.ts';
import type { ListPage } from './own-journals.ts';
import type { Owner } from './owners.ts';
import type { ServedRuns } from './served-runs.ts';
import type { ServerSentEvent } from './sse.ts';
import type { Updates } from './updates.ts';

export interface ServerEnv {
  Variables: { owner: Owner };
}
/** Converts a schema to JSON Schema. Loaded by servers only, so that other imports of the package do not read this part of zod. */
export type ToJsonSchema = typeof import('zod').toJSONSchema;

export type ServerApp = Hono<ServerEnv>;
export type ServerRequest = Context<ServerEnv>;

type Events = AsyncGenerator<ServerSentEvent, void>;
type Open<Items> = (signal: AbortSignal) => Promise<Items>;
type HeaderValues = Readonly<Record<string, string>>;

/** What all routes share. */
export interface Streams {
  /** Reads items for one response. They end early when the client leaves or the server closes; until then, they count as an open stream. */
  read<Items, Result>(c: ServerRequest, open: Open<Items>, use: (items: Items) => Promise<Result>): Promise<Result>;
  /** Streams items as the events that `convert` yields. */
  stream<Items>(
    c: ServerRequest,
    open: Open<Items>,
    convert: (items: Items) => Events,
    headers?: HeaderValues,
  ): Promise<Response>;
  /** Returns what a client may see of an error. Logs an error that it must not see. */
  errorFor(c: ServerRequest, error: unknown): HttpError;
}

/** The chain or an agent, as clients choose it. */
export interface Offer {
  readonly name: string;
  /** The end of its paths: empty for the chain, `/NAME` for an agent. */
  readonly path: string;
  /** The tool for MCP clients. `remembers`: whether it has sessions. */
  readonly tool: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly remembers: boolean;
  };
}

/** What each protocol receives to add its routes to the app: the runs, and functions to read and stream them. */
export interface ServerContext extends Pick<Streams, 'errorFor'> {
  readonly runs: ServedRuns;
  readonly clock: Clock;
  readonly toJsonSchema: ToJsonSchema;
  /** The chain comes first. */
  readonly offers: readonly Offer[];
  /** The name of the offer for clients that choose none; null if they have to. */
  readonly defaultName: string | null;
  read<Result>(c: ServerRequest, runId: string, use: (updates: Updates) => Promise<Result>): Promise<Result>;
  stream(
    c: ServerRequest,
    runId: string,
    convert: (updates: Updates) => Events,
    headers?: HeaderValues,
  ): Promise<Response>;
}

/** Returns the paths of a protocol, each with the name of the agent that it is for: none for the default. */
export const pathsAt = (path: string, { offers }: ServerContext): readonly (readonly [string, string?])[] => [
  [path],
  ...offers.flatMap((offer) => (offer.path === '' ? [] : [[`${path}${offer.path}`, offer.name] as const])),
];

const JSON_ONLY = ['application/json'];

/**
 * Returns the validated JSON body of a request. Throws an `HttpError`: 415 for a content type that is not in `accepted`, 400 for an invalid
 * body. By default, forms and plain text are rejected, because browsers send them to other sites without a preflight request.
 */
export async function bodyOf<Schema extends z.ZodMiniType>(
  c: ServerRequest,
  schema: Schema,
  accepted: readonly string[] = JSON_ONLY,
): Promise<z.output<Schema>> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!accepted.includes(type))
    throw new HttpError(415, 'not_json', `Content-Type: expected application/json; received ${describeValue(type)}.`);
  const given = parsed(await c.req.text().catch(throwIncompleteBody));
  requireFewValues(given);
  return checked(given, schema);
}

/** Returns the output of a schema for a body. Throws an `HttpError` 400. */
function checked<Schema extends z.ZodMiniType>(given: unknown, schema: Schema): z.output<Schema> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw invalidRequest(invalidOption('body', given, read.error, schema).message);
}

/** Returns an `HttpError` 400 with a message that names the invalid value before its colon. */
export const invalidRequest = (message: string): HttpError =>
  new HttpError(400, 'invalid_request', firstChars(message, 500), {}, message.slice(0, message.indexOf(':')));

/** A run checks, copies and stores each value several times: this many keep the event loop busy for a quarter of a second. */
const MAX_BODY_VALUES = 20_000;
/** Journals store at most 500 levels, and a machine may put a value anywhere in its context. */
const MAX_BODY_LEVELS = 200;

/** Throws an `HttpError` 400 for a JSON body with too many levels, or with too many items and members at all levels together. */
export function requireFewValues(body: unknown): void {
  let count = 1;
  let level = [body];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_BODY_LEVELS)
      throw invalid('body', `expected at most ${MAX_BODY_LEVELS} nested levels; received more`);
    level = level.flatMap((value) => (typeof value === 'object' && value !== null ? Object.values(value) : []));
    count += level.length;
    if (count > MAX_BODY_VALUES)
      throw invalid('body', `expected at most ${MAX_BODY_VALUES} items and members in all; received more`);
  }
}

/** The client closed its connection while it sent the body. */
function throwIncompleteBody(error: unknown): never {
  if (error instanceof HttpError) throw error;
  throw new HttpError(400, 'invalid_request', 'body: expected a complete body; the connection closed before the end.');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError(400, 'invalid_json', 'body: expected JSON; received text that cannot be parsed.');
  }
}

/** Returns an `HttpError` 400 for an invalid value of a request. */
export function invalid(param: string, expected: string, ...received: readonly unknown[]): HttpError {
  const values = received.map((value) => `; received ${describeValue(value)}`).join('');
  return new HttpError(400, 'invalid_request', `${param}: ${expected}${values}.`, {}, param);
}

const MAX_LISTED = 100;

/** Returns how many items of a list a request asks for. Throws an `HttpError` 400. */
export function limitOf({ limit = '20' }: Readonly<Record<string, string>>): number {
  const most = Number(limit);
  if (Number.isInteger(most) && most >= 1 && most <= MAX_LISTED) return most;
  throw invalid('limit', `expected an integer from 1 to ${MAX_LISTED}`, limit);
}

/** Returns the part of a list that a request asks for. Throws an `HttpError` 400. */
export function pageOf(c: ServerRequest): ListPage {
  const limit = limitOf(c.req.query());
  const before = c.req.query('before');
  const beforeMs = Date.parse(before ?? '');
  if (before !== undefined && Number.isNaN(beforeMs))
    throw invalid('before', 'expected a time in ISO 8601, like startedAt', before);
  // In UTC, because stores compare times as strings.
  return { limit, before: before === undefined ? undefined : new Date(beforeMs).toISOString() };
}

/** Returns the id of the last event that the client received, or null. `form` matches an id, such as `example`. Throws an `HttpError` 400. */
export function lastEventIdOf(c: ServerRequest, form: RegExp, example: string): string | null {
  const after = c.req.header('last-event-id') ?? c.req.query('after') ?? '';
  if (after === '') return null;
  if (!form.test(after)) throw invalid('Last-Event-ID', `expected the id of an event, such as "${example}"`, after);
  return after;
}

/** Returns the `Idempotency-Key` of a request, if it has one. Throws an `HttpError` 400 for an invalid key. */
export function idempotencyKeyOf(c: ServerRequest): { readonly idempotencyKey?: string } {
  const key = c.req.header('idempotency-key');
  if (key === undefined) return {};
  if (!/^[\x21-\x7e]{1,255}$/u.test(key))
    throw invalid('Idempotency-Key', 'expected 1 to 255 printable ASCII characters without spaces', key);
  return { idempotencyKey: key };
}
