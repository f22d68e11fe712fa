import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type {
  JSONRPCMessage,
  ReadBuffer,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { lastChars } from '../../../machines/text/clip.ts';
import { onAbort } from '../../internal/async.ts';
import { boundedBody } from '../../internal/bounded-body.ts';
import { platformFetch } from '../../internal/fetch-without-timeout.ts';
import { importByName } from '../../internal/optional-package.ts';
import { repaired, repairedStream } from './messages.ts';
import type { HttpSettings, StdioSettings } from './options.ts';
import type { Sdk } from './sdk.ts';

/** Only Node starts processes, so no bundle contains this part of the SDK. */
const importStdio = () =>
  importByName<typeof import('@modelcontextprotocol/client/stdio')>('@modelcontextprotocol/client/stdio');

/** The maximum size of a server's message. It must fit in memory. */
const MAX_MESSAGE_BYTES = 10_000_000;

/** A transport of the SDK, and the state of its server. */
export interface ServerTransport {
  readonly transport: Transport;
  /** Aborts, with an Error as the reason, when the server is no longer reachable. */
  readonly gone: AbortSignal;
  /** Whether the server may forget the session while it is reachable. */
  readonly hasSessions: boolean;
  /** Closes the connection and waits for its process to end. If `isFailing`, it sends no more requests and waits only briefly. Never rejects. */
  end(isFailing: boolean): Promise<void>;
}

const TERMINATION_MS = 500;

/** A broken response stream is resumed up to twice if the server supports it. */
const RECONNECTION = {
  initialReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 1_000,
  maxRetries: 2,
};

/** The error of a call that the server may have executed. */
export const UNANSWERED = { code: -32_000, message: 'the connection ended without a response' };

/**
 * Returns the SDK's transport for streamable HTTP with two additions: a response stream that ends without a response fails its request,
 * which would otherwise wait for its deadline, and the stream of a canceled request is closed.
 */
export function httpTransport(sdk: Sdk, { url, headers }: HttpSettings): ServerTransport {
  const requests = createOpenRequests();

  class WatchedTransport extends sdk.StreamableHTTPClientTransport {
    override async send(message: JSONRPCMessage | JSONRPCMessage[], options?: TransportSendOptions): Promise<void> {
      if (isOutgoing(message) && 'id' in message) return this.ask(message, message.id, options);
      await super.send(message, sendable(options)).finally(() => {
        if (isOutgoing(message) && message.method === 'notifications/cancelled')
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
    fetch: boundedFetch(sdk),
    reconnectionOptions: RECONNECTION,
  });
  transport.onmessage = (message: JSONRPCMessage) => {
    if (!('method' in message) && message.id !== undefined) requests.answer(message.id);
  };
  const gone = new AbortController();
  const end = async (isFailing: boolean): Promise<void> => {
    const timer = setTimeout(() => void transport.close(), TERMINATION_MS);
    if (!isFailing) await transport.terminateSession().catch(() => {});
    clearTimeout(timer);
    gone.abort(new Error('it was disconnected'));
    await transport.close();
  };
  return { transport, gone: gone.signal, hasSessions: true, end };
}

type Outgoing = Extract<JSONRPCMessage, { method: string }>;

function isOutgoing(message: JSONRPCMessage | JSONRPCMessage[]): message is Outgoing {
  return !Array.isArray(message) && 'method' in message;
}

type Sendable = Parameters<InstanceType<Sdk['StreamableHTTPClientTransport']>['send']>[1];

/** Returns the options as the SDK's other type for them. The two types differ only in members that are undefined. */
function sendable(options: TransportSendOptions | undefined): Sendable {
  return options as Sendable;
}

/**
 * Fetches without a time limit and with a size limit. It rejects the stream for unsolicited messages, because the client offers nothing
 * that a server could request, but not a stream that resumes a broken response.
 */
const boundedFetch =
  (sdk: Sdk): typeof globalThis.fetch =>
  async (input, init) => {
    if (init?.method === 'GET' && !new Headers(init.headers).has('last-event-id'))
      return new Response(null, { status: 405 });
    const { body, status, statusText, headers } = await platformFetch(input, init);
    const bounded = body && boundedBody(body, MAX_MESSAGE_BYTES);
    const given = new Response(bounded, { status, statusText, headers });
    const own = requestIdIn(init?.body);
    const type = headers.get('content-type') ?? '';
    // Nothing will follow, so the request would wait for its deadline.
    if (status === 202 && own !== undefined) return Response.json({ jsonrpc: '2.0', id: own, error: UNANSWERED });
    if (status !== 200 || bounded === null) return given;
    if (/^application\/json\b/iu.test(type))
      return new Response(repaired(sdk, await given.text(), own), { status, statusText, headers });
    if (!/^text\/event-stream\b/iu.test(type)) return given;
    const messages = bounded.pipeThrough(new TextDecoderStream()).pipeThrough(repairedStream(sdk, own));
    return new Response(messages.pipeThrough(new TextEncoderStream()), { status, statusText, headers });
  };

/** Servers send some errors without an id, before they read the request. */
function requestIdIn(body: unknown): unknown {
  const { id } = (typeof body === 'string' ? JSON.parse(body) : {}) as { readonly id?: unknown };
  return id;
}

/** Requests over HTTP, each with its own response stream. */
interface OpenRequests {
  /** Registers a request. Its stream must be closed when the returned signal aborts. */
  open(id: RequestId): AbortSignal;
  answer(id: RequestId): void;
  /** Closes the stream of a request that is no longer awaited. */
  drop(id: RequestId): void;
  /** Registers the end of a stream. Returns whether its response is still awaited. */
  end(id: RequestId): boolean;
}

/** Returns a record of open requests. If the server leaves a stream open after its response, the next request closes it. */
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

/**
 * Returns the SDK's transport for a process, which closes its input, waits two seconds, and then kills it. Additions: it reports how the
 * process ended, and neither a server that floods its output nor one that leaves child processes behind keeps our process running.
 */
export async function stdioTransport(sdk: Sdk, { command, args, env, cwd }: StdioSettings): Promise<ServerTransport> {
  const { StdioClientTransport } = await importStdio();
  let isEnding = false;

  class WatchedTransport extends StdioClientTransport {
    override async start(): Promise<void> {
      this['_readBuffer'].readMessage = () => nextMessage(sdk, this['_readBuffer']);
      const starting = super.start();
      server.watch(this['_process'] as ChildProcess);
      await starting;
    }

    /** The SDK calls this itself if a message is too long or connecting fails. */
    override async close(): Promise<void> {
      if (!isEnding) server.abandon();
      await super.close();
    }
  }

  const directory = cwd === undefined ? {} : { cwd };
  const limits = { stderr: 'pipe', maxBufferSize: MAX_MESSAGE_BYTES } as const;
  const transport = new WatchedTransport({ command, args, env, ...directory, ...limits });
  const { stderr } = transport;
  const server = createServerProcess(stderr === null ? () => '' : lastLines(stderr as Readable));
  transport.onclose = server.close;
  transport.onerror = server.setReason;
  const end = async (isFailing: boolean): Promise<void> => {
    if (isFailing) server.abandon();
    isEnding = true;
    await transport.close();
    await server.exited();
    server.close();
  };
  return { transport, gone: server.gone, hasSessions: false, end };
}

/** Returns the next complete message; null if there is none. The SDK rejects messages that can be repaired, and then waits for them. */
function nextMessage(sdk: Sdk, buffer: ReadBuffer): JSONRPCMessage | null {
  for (;;) {
    const end = buffer['_buffer']?.indexOf('\n') ?? -1;
    if (end < 0) return null;
    const line = buffer['_buffer']?.toString('utf8', 0, end) ?? '';
    buffer['_buffer'] = buffer['_buffer']?.subarray(end + 1);
    try {
      return sdk.deserializeMessage(repaired(sdk, line));
    } catch (error) {
      // Some servers print other text.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
}

const MAX_CHARS = 2_000;

/** Reads a stream to its end, so that its writer never blocks, and keeps its last lines. */
function lastLines(stream: Readable): () => string {
  let kept = '';
  stream.setEncoding('utf8');
  stream.on('data', (piece: string) => {
    kept = lastChars(kept + piece.slice(-MAX_CHARS), MAX_CHARS);
  });
  stream.on('error', () => {});
  return () => kept.trim().split('\n').slice(-5).join(' | ');
}

/** How long the pipes of an exited process are read if one of its child processes keeps them open. */
const DRAIN_MS = 500;

/** How long an abandoned process may take to end before it is killed. */
const GRACE_MS = 500;

/** Tracks a server's process and cleans up after it. */
interface ServerProcess {
  /** Aborts, with an Error as the reason, when the process is no longer reachable. */
  readonly gone: AbortSignal;
  watch(child: ChildProcess): void;
  /** Sets the reason that is reported unless the process exits with a more specific one. */
  setReason(error: Error): void;
  close(): void;
  /** Stops reading its output and ends it. */
  abandon(): void;
  /** Releases its pipes and resolves when it has exited. */
  exited(): Promise<void>;
}

/** `lastErrors` returns the last lines of its standard error. */
function createServerProcess(lastErrors: () => string): ServerProcess {
  const gone = new AbortController();
  let child: ChildProcess | undefined;
  let reason = 'it closed the connection';
  const close = (): void => {
    const output = lastErrors();
    gone.abort(new Error(`${reason}${output && `; last standard error: ${output}`}`));
  };
  const releasePipes = (): void => {
    for (const pipe of [child?.stdin, child?.stdout, child?.stderr]) pipe?.destroy();
  };
  return {
    gone: gone.signal,
    close,
    watch: (started) => {
      child = started;
      child.once('exit', (code, signal) => {
        reason = `it exited with ${code === null ? signal : `code ${code}`}`;
        setTimeout(releasePipes, DRAIN_MS).unref();
      });
    },
    setReason: ({ message }) => {
      reason = message;
    },
    abandon: () => {
      close();
      child?.stdout?.destroy();
      child?.kill();
      setTimeout(() => child?.kill('SIGKILL'), GRACE_MS).unref();
    },
    exited: async () => {
      releasePipes();
      if (isRunning(child)) await process.getBuiltinModule('node:events').once(child, 'exit');
    },
  };
}

function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}
