import type {
  CallToolResult,
  Client,
  JSONRPCMessage,
  RequestId,
  TransportSendOptions,
  VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { deadline, linkSignals, onAbort, unlessAborted } from '../../internal/async.ts';
import { fetchWithoutTimeout } from '../../internal/http.ts';
import { failed } from './failed.ts';
import type { Sdk } from './load-sdk.ts';
import type { HttpSettings, McpSettings } from './options.ts';
import { stdioWire } from './stdio-wire.ts';
import type { Tool } from './tools.ts';
import { MAX_MESSAGE_BYTES, type Wire } from './wire.ts';

/** A server that answered `initialize`. */
export interface Connection extends Pick<Wire, 'gone' | 'isSessionLost' | 'end'> {
  readonly client: Client;
}

/**
 * Connects by the handshake that nearly all servers know; one that knows only the newer way (protocol 2026-07-28, without
 * `initialize`) is asked anew in that way.
 *
 * @throws PostChainError `mcp_failed`; then nothing is left of the server's process.
 */
export async function connect(sdk: Sdk, settings: McpSettings, signal: AbortSignal): Promise<Connection> {
  const within = deadline(settings.connectTimeoutMs, signal);
  try {
    signal.throwIfAborted();
    return await connectBy('legacy', sdk, settings, within.signal).catch(async (error) => {
      if (!isNewerServer(error)) throw error;
      return connectBy('auto', sdk, settings, within.signal);
    });
  } catch (error) {
    throw failed(settings, 'could not be connected', error);
  } finally {
    within.forget();
  }
}

async function connectBy(
  mode: VersionNegotiationMode,
  sdk: Sdk,
  settings: McpSettings,
  signal: AbortSignal,
): Promise<Connection> {
  const wire = 'command' in settings ? stdioWire(sdk, settings) : httpWire(sdk, settings);
  const client = new sdk.Client(
    { name: manifest.name, version: manifest.version },
    { capabilities: {}, inputRequired: { autoFulfill: false }, versionNegotiation: { mode } },
  );
  let ended: Promise<void> | undefined;
  const end = (isFailing: boolean): Promise<void> => {
    ended ??= wire.end(isFailing);
    return ended;
  };
  try {
    await unlessAborted(client.connect(wire.transport, { signal, timeout: MAX_TIMER_MS }), signal);
    return { ...wire, end, client };
  } catch (error) {
    await end(true);
    throw signal.aborted ? signal.reason : isClosed(error) ? wire.gone.reason : error;
  }
}

/** Asks a tool, for as long as the signals allow: the SDK's own time-out of a minute cuts nothing. */
export async function callTool(
  { client, gone }: Connection,
  { name, inputSchema }: Tool,
  args: Record<string, unknown>,
  ...signals: readonly AbortSignal[]
): Promise<CallToolResult> {
  const until = linkSignals(gone, ...signals);
  try {
    return await client.callTool(
      { name, arguments: args },
      { signal: until.signal, timeout: MAX_TIMER_MS, toolDefinition: { name, inputSchema } },
    );
  } catch (error) {
    throw until.signal.aborted ? until.signal.reason : error;
  } finally {
    until.forget();
  }
}

const METHOD_NOT_FOUND = -32_601;
const UNSUPPORTED_VERSION = -32_022;

function isNewerServer(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return code === METHOD_NOT_FOUND || code === UNSUPPORTED_VERSION || status === 400;
}

function isClosed(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'CONNECTION_CLOSED';
}

/** How long the server is waited for when its session is ended. */
const FAREWELL_MS = 500;

/** A broken stream of an answer is taken up again twice, where the server allows it. */
const RECONNECTION = {
  initialReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 1_000,
  maxRetries: 2,
};

const UNANSWERED = { code: -32_000, message: 'the connection ended without an answer' };

/**
 * A server over streamable HTTP, by the SDK's transport. Beside that: a stream that ends without its answer fails the request, which
 * would else wait for its deadline, and one whose request was cancelled is closed.
 */
function httpWire({ StreamableHTTPClientTransport }: Sdk, { url, headers }: HttpSettings): Wire {
  const requests = createOpenRequests();

  class WatchedTransport extends StreamableHTTPClientTransport {
    override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
      if (isOne(message) && 'id' in message) return this.ask(message, message.id, options);
      await super.send(message, sendable(options)).finally(() => {
        if (isOne(message) && message.method === 'notifications/cancelled')
          requests.drop(message.params?.['requestId'] as RequestId);
      });
    }

    private async ask(message: JSONRPCMessage, id: RequestId, options?: TransportSendOptions): Promise<void> {
      const requestSignal = requests.open(id);
      if (options?.requestSignal !== undefined) onAbort(options.requestSignal, () => requests.drop(id));
      const onRequestStreamEnd = (): void => {
        options?.onRequestStreamEnd?.();
        if (requests.end(id)) this.onmessage?.({ jsonrpc: '2.0', id, error: UNANSWERED });
      };
      await super.send(message, { ...sendable(options), requestSignal, onRequestStreamEnd }).catch((error) => {
        requests.drop(id);
        throw error;
      });
    }
  }

  const transport = new WatchedTransport(new URL(url), {
    requestInit: { headers },
    fetch: boundedFetch,
    reconnectionOptions: RECONNECTION,
  });
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!('method' in message) && message.id !== undefined) requests.answer(message.id);
  };
  const gone = new AbortController();
  const end = async (isFailing: boolean): Promise<void> => {
    const timer = setTimeout(() => void transport.close(), FAREWELL_MS);
    if (!isFailing) await transport.terminateSession().catch(() => {});
    clearTimeout(timer);
    gone.abort(new Error('it is no longer connected'));
    await transport.close();
  };
  const isSessionLost = (error: unknown): boolean => transport.sessionId !== undefined && saysSessionLost(error);
  return { transport, gone: gone.signal, isSessionLost, end };
}

/** 404 by the specification; many servers answer 400 to a session that they do not know, and then name it: other 400s may have done something. */
function saysSessionLost(error: unknown): boolean {
  const { status, data } = (error ?? {}) as { status?: unknown; data?: { text?: unknown } };
  return status === 404 || (status === 400 && /session/iu.test(String(data?.text ?? '')));
}

type Asked = Extract<JSONRPCMessage, { method: string }>;

/** What asks or tells something, rather than answers. */
function isOne(message: JSONRPCMessage | JSONRPCMessage[]): message is Asked {
  return !Array.isArray(message) && 'method' in message;
}

type Sendable = Parameters<InstanceType<Sdk['StreamableHTTPClientTransport']>['send']>[1];

/** The SDK has two types for the same options, which differ in undefined members only. */
function sendable(options: TransportSendOptions | undefined): Sendable {
  return options as Sendable;
}

/**
 * The patient fetch, for MCP: an answer is read up to a bound. The stream for what a server says unasked is not opened, since nothing
 * is offered that it could ask for; one that takes up a broken answer is.
 */
const boundedFetch: typeof globalThis.fetch = async (input, init) => {
  if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
    return new Response(null, { status: 405 });
  const { body, status, statusText, headers } = await fetchWithoutTimeout(input, init);
  return new Response(body?.pipeThrough(bounded()) ?? null, { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(piece, controller) {
      bytes += piece.byteLength;
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`));
      else controller.enqueue(piece);
    },
  });
}

/** Requests over HTTP, each with a stream of its own for the answer. */
interface OpenRequests {
  /** A request is sent; its stream is to be closed when the signal aborts. */
  open(id: RequestId): AbortSignal;
  answer(id: RequestId): void;
  /** Nobody waits for it any more: its stream is closed. */
  drop(id: RequestId): void;
  /** Its stream ended. Says whether the answer is still waited for. */
  end(id: RequestId): boolean;
}

/** A stream that its server leaves open after the answer is closed when the next request is sent. */
function createOpenRequests(): OpenRequests {
  const waiting = new Map<RequestId, AbortController>();
  const answered = new Map<RequestId, AbortController>();
  return {
    open: (id) => {
      for (const stream of answered.values()) stream.abort();
      answered.clear();
      const stream = new AbortController();
      waiting.set(id, stream);
      return stream.signal;
    },
    answer: (id) => {
      const stream = waiting.get(id);
      if (stream !== undefined) answered.set(id, stream);
      waiting.delete(id);
    },
    drop: (id) => {
      waiting.get(id)?.abort();
      waiting.delete(id);
    },
    end: (id) => {
      answered.delete(id);
      return waiting.delete(id);
    },
  };
}
