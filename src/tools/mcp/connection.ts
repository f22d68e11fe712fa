import type { Client } from '@modelcontextprotocol/client';
import * as z from 'zod/mini';
import type { LeftOut } from './mcp-connection.ts';
import type { Tool } from './tools.ts';
import { type ServerTransport, UNANSWERED } from './transport.ts';

export interface Connection extends Pick<ServerTransport, 'gone' | 'hasSessions' | 'end'> {
  readonly client: Client;
  /** The tools that the server listed when it was connected. */
  readonly tools: readonly Tool[];
  readonly leftOut: readonly LeftOut[];
}

/** The maximum time for a server to list its tools again. */
const PROBE_MS = 2_000;

/** Statuses that usually have other reasons than an unknown session. */
const OTHER_REASONS: ReadonlySet<number> = new Set([401, 403, 429]);

/** JSON-RPC codes of servers that do not know a session. A tool that throws has other codes. */
const SESSION_CODES: ReadonlySet<number> = new Set([-32_000, -32_001, -32_005, -32_600]);

const UNKNOWN_SESSION =
  /\b(no|unknown|invalid|expired|stale|missing|inactive)\b[\w -]{0,20}\bsession|\bsession\b.{0,80}\b(not|no longer|unknown|invalid|expired|terminated|closed|missing|required)\b/iu;
const NOT_INITIALIZED =
  /\b(server|session|client|transport) (is |was |has )?not (yet |been )*initiali[sz]ed|\bbefore initiali[sz]ation\b|\bre-?initiali[sz]e\b|\binitiali[sz]e (first|the session|request)/iu;

/**
 * Whether a call failed because the server no longer knows the session, and therefore did nothing: it may then be repeated in a new one.
 * The specification requires the status 404. Many servers respond with another status or with a JSON-RPC error; so do processes that restart
 * the actual server, or connect to one over HTTP. If the text is ambiguous, the session counts as lost if the server refuses to list its
 * tools in the same way.
 */
export async function isSessionLost(connection: Connection, error: unknown): Promise<boolean> {
  const refusal = refusalOf(error);
  if (refusal === null) return false;
  const { status, code, text } = refusal;
  // A process answers in order, so after the probe all calls of the lost session have been refused, and it can be ended.
  if (connection.hasSessions) {
    if (NOT_INITIALIZED.test(text)) return true;
    if (connection.client.transport?.sessionId === undefined) return false;
    if (status === 404 || status === 410 || (status === 400 && /session/iu.test(text))) return true;
    if ((status !== null || SESSION_CODES.has(code)) && UNKNOWN_SESSION.test(text)) return true;
    // After a status of 500 or more, the call may have had an effect.
    if (status !== null && (status >= 500 || OTHER_REASONS.has(status))) return false;
  }
  const isSame = (other: Refusal | null): boolean => other?.status === status && other.code === code;
  const probed = await probe(connection);
  if (!isSame(probed)) probes.delete(connection);
  return isSame(probed);
}

type Refusal = NonNullable<ReturnType<typeof refusalOf>>;

const probes = new WeakMap<Connection, Promise<Refusal | null>>();

/** Returns how the server refuses to list its tools, or null. Once it refuses like a call, other calls of the session need no new probe. */
function probe(connection: Connection): Promise<Refusal | null> {
  const running = probes.get(connection);
  if (running !== undefined) return running;
  const request = { method: 'tools/list', params: {} };
  const started = connection.client
    .request(request, z.unknown(), { signal: connection.gone, timeout: PROBE_MS })
    .then(() => null, refusalOf);
  probes.set(connection, started);
  return started;
}

/** Returns an HTTP error (a status) or a JSON-RPC error (a code); null for any other error, after which the call may have had an effect. */
function refusalOf(error: unknown) {
  const { status, data, code, message } = (error ?? {}) as Record<'status' | 'data' | 'code' | 'message', unknown>;
  const { text } = (data ?? {}) as { text?: unknown };
  if (typeof status === 'number') return { status, code: 0, text: String(text ?? '') };
  return typeof code === 'number' && message !== UNANSWERED.message
    ? { status: null, code, text: String(message) }
    : null;
}
