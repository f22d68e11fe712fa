import type { CallToolResult, Tool as ListedTool, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { clipped } from '../../../machines/text/clip.ts';
import { wellFormed } from '../../../machines/text/safe-json.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { linkSignals, unlessAborted } from '../../internal/async.ts';
import { asStandardSchema } from '../../internal/check-json-schema.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';
import type { Capability } from '../capability.ts';
import { createRegistry } from '../registry.ts';
import { type Connection, isSessionLost } from './connection.ts';
import type { McpConnection } from './mcp-connection.ts';
import { type McpSettings, mcpError } from './options.ts';
import { loadSdk, type Sdk } from './sdk.ts';
import { listTools, resultText, type Tool } from './tools.ts';
import { httpTransport, stdioTransport } from './transport.ts';

/** Only the signals limit the time of a call, not the SDK's default timeout of a minute. */
async function callTool(
  { client, gone }: Connection,
  { name, inputSchema }: Pick<ListedTool, 'name' | 'inputSchema'>,
  args: Record<string, unknown>,
  ...signals: readonly AbortSignal[]
): Promise<CallToolResult> {
  const until = linkSignals(gone, ...signals);
  try {
    return await client.callTool(
      { name, arguments: wellFormed(args) },
      { signal: until.signal, timeout: MAX_TIMER_MS, toolDefinition: { name, inputSchema } },
    );
  } catch (error) {
    throw until.signal.aborted ? until.signal.reason : error;
  } finally {
    until.forget();
  }
}

/** OpenAI's limit for the description of a function. */
const MAX_DESCRIPTION_CHARS = 1_024;

interface Reconnecting {
  /** Aborts when the connection is closed by the user. */
  readonly closed: AbortSignal;
  /** Resolves to the connection, or to a new one if it is gone. */
  get(): Promise<Connection>;
  /** Makes the next `get` reconnect. */
  drop(connection: Connection): void;
  /** Closes the connection and rejects every later `get`. Never rejects. */
  close(): Promise<void>;
}

interface Parts {
  readonly settings: McpSettings;
  readonly server: Reconnecting;
}

function toolCapability({ settings, server }: Parts, name: string, tool: Tool): Capability {
  const { $schema: _, ...jsonSchema } = tool.inputSchema;
  return {
    name,
    description: descriptionOf(tool),
    arguments: asStandardSchema(jsonSchema, { acceptsUnchecked: true }),
    jsonSchema,
    approval: settings.approval ?? (tool.annotations?.readOnlyHint === true ? undefined : 'always'),
    ...(settings.timeoutMs !== undefined && { timeoutMs: settings.timeoutMs }),
    execute: async (args, { signal }) => {
      const result = await callOnce(server, tool, args as Record<string, unknown>, signal).catch((error) => {
        throw mcpError(settings, `failed at "${redactSecrets(tool.name, [])}"`, error);
      });
      const text = resultText(result);
      if (result.isError)
        throw new PostChainError('mcp_failed', redactSecrets(text, settings.secrets) || 'the tool failed');
      return text;
    },
  };
}

/** Calls a tool once, or again in a new session if the server no longer knows the session. */
async function callOnce(server: Reconnecting, tool: Tool, args: Record<string, unknown>, signal: AbortSignal) {
  const call = async (connection: Connection) => {
    requireSameTool(connection, tool);
    return callTool(connection, tool, args, signal, server.closed);
  };
  const connection = await unlessAborted(server.get(), signal);
  try {
    return await call(connection);
  } catch (error) {
    if (!(await unlessAborted(isSessionLost(connection, error), signal))) throw error;
    server.drop(connection);
    return call(await unlessAborted(server.get(), signal));
  }
}

/** After a restart, the server may have other tools. One that needed no approval must still need none. */
function requireSameTool({ tools }: Connection, { name, annotations }: Tool): void {
  const now = tools.find((tool) => tool.name === name);
  if (now === undefined) throw new Error('since it was restarted, it no longer has this tool');
  if (annotations?.readOnlyHint === true && now.annotations?.readOnlyHint !== true)
    throw new Error('since it was restarted, it no longer marks this tool as read-only; connect it again');
}

function descriptionOf({ name, title, description }: Tool): string {
  const text = [description, title, name].map(readable).find((one) => one !== '') ?? '';
  return clipped(text, MAX_DESCRIPTION_CHARS);
}

/** Removes control characters other than line breaks and tabs, and invisible characters. */
function readable(text = ''): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}]/gu, '').trim();
}

/**
 * Connects and lists the tools: with `initialize`, which nearly all servers support, and otherwise with the newer protocol 2026-07-28, which has no `initialize`.
 *
 * @throws PostChainError `mcp_failed`; the server's process has then ended.
 */
async function connect(sdk: Sdk, settings: McpSettings, signal: AbortSignal | undefined): Promise<Connection> {
  const { connectTimeoutMs } = settings;
  const within = linkSignals(signal);
  const timer = setTimeout(() => within.abort(new Error(`no answer within ${connectTimeoutMs} ms`)), connectTimeoutMs);
  try {
    const connected = await connectBy('legacy', sdk, settings, within.signal)
      .catch(async (error) => {
        if (!isNewerServer(error)) throw error;
        return connectBy('auto', sdk, settings, within.signal);
      })
      .catch((error) => {
        throw mcpError(settings, 'could not be connected', error);
      });
    return { ...connected, ...(await toolsOf(connected, settings, within.signal)) };
  } finally {
    clearTimeout(timer);
    within.forget();
  }
}

type Connected = Omit<Connection, 'tools' | 'leftOut'>;

async function connectBy(
  mode: VersionNegotiationMode,
  sdk: Sdk,
  settings: McpSettings,
  signal: AbortSignal,
): Promise<Connected> {
  signal.throwIfAborted();
  const server = 'command' in settings ? await stdioTransport(sdk, settings) : httpTransport(sdk, settings);
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

const METHOD_NOT_FOUND = -32_601;

const UNSUPPORTED_VERSION = -32_022;

function isNewerServer(error: unknown): boolean {
  const { code, status } = (error ?? {}) as { code?: unknown; status?: unknown };
  return code === METHOD_NOT_FOUND || code === UNSUPPORTED_VERSION || status === 400;
}

function isClosed(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'CONNECTION_CLOSED';
}

/** @throws PostChainError `invalid_option` for an unknown name in `include` or `exclude`. */
function selectTools(tools: readonly Tool[], { name, include, exclude = [] }: McpSettings): readonly Tool[] {
  const names = new Set(tools.map((tool) => tool.name));
  for (const [option, given] of Object.entries({ include, exclude })) {
    const unknown = given?.find((one) => !names.has(one));
    if (unknown === undefined) continue;
    const known = redactSecrets([...names].join(', '), []);
    const message = `${option}: the MCP server "${name}" has no tool ${JSON.stringify(unknown)}; it has ${known}.`;
    throw new PostChainError('invalid_option', message);
  }
  return tools.filter((tool) => (include?.includes(tool.name) ?? true) && !exclude.includes(tool.name));
}

export async function connectServer(settings: McpSettings): Promise<McpConnection> {
  const { name } = settings;
  const sdk = await loadSdk();
  const open = (signal: AbortSignal | undefined) => connect(sdk, settings, signal);
  const first = await open(settings.signal);
  const leftOut = [...first.leftOut];
  const server = createReconnecting(first, open);
  const capabilities: Capability[] = [];
  for (const [one, tool] of withUniqueNames(name, await selectedTools(first, settings))) {
    const capability = toolCapability({ settings, server }, one, tool);
    const problem = problemOf(capability);
    if (problem === null) capabilities.push(capability);
    else leftOut.push({ tool: redactSecrets(tool.name, settings.secrets), reason: problem });
  }
  return { name, capabilities, leftOut, close: server.close, [Symbol.asyncDispose]: server.close };
}

/** Disconnects the server if it does not list them. */
async function toolsOf({ client, end }: Connected, settings: McpSettings, signal: AbortSignal) {
  try {
    return await listTools(client, signal);
  } catch (error) {
    await end(true);
    throw mcpError(settings, 'did not list its tools', signal.aborted ? signal.reason : error);
  }
}

/** Disconnects the server if an option names an unknown tool. */
async function selectedTools({ tools, end }: Connection, settings: McpSettings): Promise<readonly Tool[]> {
  try {
    return selectTools(tools, settings);
  } catch (error) {
    await end(true);
    throw error;
  }
}

/** Returns why the chain would reject a capability, or null. One bad tool must not make the others unusable. */
function problemOf(capability: Capability): string | null {
  try {
    createRegistry([capability]);
    return null;
  } catch (error) {
    return redactSecrets(unexpectedFailure(error).message, []);
  }
}

/** Returns names that are valid on the wire and unique; a duplicate gets a number. */
function withUniqueNames(prefix: string, tools: readonly Tool[]): readonly (readonly [string, Tool])[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const name = freeName(wireName(`${prefix}_${tool.name}`), taken);
    taken.add(name);
    return [name, tool] as const;
  });
}

/** Keeps one connection. If it is gone or dropped, the next `get` reconnects; concurrent calls share one attempt. */
function createReconnecting(first: Connection, open: (signal: AbortSignal) => Promise<Connection>): Reconnecting {
  const closing = new AbortController();
  let current = first;
  let isDropped = false;
  let opening: Promise<Connection> | null = null;
  const reopen = async (): Promise<Connection> => {
    try {
      // Over HTTP, calls that the server accepted continue.
      if (!isDropped || !current.hasSessions) await current.end(true);
      current = await open(closing.signal);
      isDropped = false;
      return current;
    } finally {
      opening = null;
    }
  };
  return {
    closed: closing.signal,
    get: async () => {
      closing.signal.throwIfAborted();
      if (!current.gone.aborted && !isDropped) return current;
      opening ??= reopen();
      return opening;
    },
    drop: (connection) => {
      isDropped ||= connection === current;
    },
    close: async () => {
      closing.abort(new Error('it was closed'));
      await opening?.catch(() => {});
      await current.end(false);
    },
  };
}
