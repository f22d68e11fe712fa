import { PostChainError } from '../../../machines/contracts/error.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';
import { deadline } from '../../internal/async.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';
import type { Capability } from '../capability.ts';
import { createRegistry } from '../registry.ts';
import { type Connection, connect } from './connection.ts';
import type { McpConnection } from './mcp-connection.ts';
import { type McpSettings, mcpError } from './options.ts';
import { listTools, type Reconnecting, type Tool, toolCapability } from './tools.ts';
import { loadSdk } from './transport.ts';

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
  const open = (signal: AbortSignal) => connect(sdk, settings, signal);
  const within = deadline(settings.connectTimeoutMs, settings.signal);
  try {
    const first = await open(within.signal);
    const { tools, leftOut } = await toolsOf(first, settings, within.signal);
    const server = createReconnecting(first, open);
    const parts = { sdk, settings, server };
    const capabilities: Capability[] = [];
    for (const [one, tool] of withUniqueNames(name, tools)) {
      const capability = toolCapability(parts, one, tool);
      const problem = problemOf(capability);
      if (problem === null) capabilities.push(capability);
      else leftOut.push({ tool: redactSecrets(tool.name, settings.secrets), reason: problem });
    }
    return { name, capabilities, leftOut, close: server.close, [Symbol.asyncDispose]: server.close };
  } finally {
    within.forget();
  }
}

/** Disconnects the server if it does not list them. */
async function toolsOf(first: Awaited<ReturnType<typeof connect>>, settings: McpSettings, signal: AbortSignal) {
  try {
    const { tools, leftOut } = await listTools(first.client, signal);
    return { tools: selectTools(tools, settings), leftOut: [...leftOut] };
  } catch (error) {
    await first.end(true);
    throw mcpError(settings, 'did not list its tools', signal.aborted ? signal.reason : error);
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
      if (!isDropped) await current.end(true);
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
