import type { CallToolResult, Client, Tool as ListedTool, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { deadline, linkSignals, unlessAborted } from '../../internal/async.ts';
import { type McpSettings, mcpError } from './options.ts';
import { httpTransport, type Sdk, type ServerTransport, stdioTransport } from './transport.ts';

export interface Connection extends Pick<ServerTransport, 'gone' | 'isSessionLost' | 'end'> {
  readonly client: Client;
}

/**
 * Connects with `initialize`, which nearly all servers support, and otherwise with the newer protocol 2026-07-28, which has no `initialize`.
 *
 * @throws PostChainError `mcp_failed`; the server's process has then ended.
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
    throw mcpError(settings, 'could not be connected', error);
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
  const server = 'command' in settings ? await stdioTransport(settings) : httpTransport(sdk, settings);
  const client = new sdk.Client(
    { name: manifest.name, version: manifest.version },
    { capabilities: {}, inputRequired: { autoFulfill: false }, versionNegotiation: { mode } },
  );
  let ended: Promise<void> | undefined;
  const end = (isFailing: boolean): Promise<void> => {
    ended ??= server.end(isFailing);
    return ended;
  };
  try {
    await unlessAborted(client.connect(server.transport, { signal, timeout: MAX_TIMER_MS }), signal);
    return { ...server, end, client };
  } catch (error) {
    await end(true);
    throw signal.aborted ? signal.reason : isClosed(error) ? server.gone.reason : error;
  }
}

/** Only the signals limit the time of a call, not the SDK's default timeout of a minute. */
export async function callTool(
  { client, gone }: Connection,
  { name, inputSchema }: Pick<ListedTool, 'name' | 'inputSchema'>,
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
