import type { JSONRPCMessage, RequestId, TransportSendOptions } from '@modelcontextprotocol/client';
import { onAbort } from '../../internal/on-abort.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { Sdk } from './load-sdk.ts';
import { createOpenRequests } from './open-requests.ts';
import type { HttpSettings } from './options.ts';
import type { Wire } from './wire.ts';

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
export function httpWire({ StreamableHTTPClientTransport }: Sdk, { url, headers }: HttpSettings): Wire {
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
