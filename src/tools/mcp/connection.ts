import type { CallToolResult, Client, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { MAX_TIMER_MS } from '../../../machines/contracts/budget.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { deadline, linked, unlessAborted } from '../../internal/signals.ts';
import { failed } from './failed.ts';
import { httpWire } from './http-wire.ts';
import type { Sdk } from './load-sdk.ts';
import type { McpSettings } from './options.ts';
import { stdioWire } from './stdio-wire.ts';
import type { Tool } from './tools.ts';
import type { Wire } from './wire.ts';

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
  const until = linked(gone, ...signals);
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
