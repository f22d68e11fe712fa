import { deadline } from '../../internal/async.ts';
import { freeName, wireName } from '../../internal/wire-name.ts';
import { connect } from './connection.ts';
import { failed } from './failed.ts';
import { loadSdk } from './load-sdk.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpSettings } from './options.ts';
import { reconnecting } from './reconnecting.ts';
import { toolCapability } from './tool-capability.ts';
import { chosen, listTools, type Tool } from './tools.ts';

/** Connects a server, once its options are known to make sense. */
export async function connectServer(settings: McpSettings): Promise<McpConnection> {
  const { name } = settings;
  const sdk = await loadSdk();
  const open = (signal: AbortSignal) => connect(sdk, settings, signal);
  const within = deadline(settings.connectTimeoutMs, settings.signal);
  try {
    const first = await open(within.signal);
    const { tools, leftOut } = await toolsOf(first, settings, within.signal);
    const server = reconnecting(first, open);
    const parts = { sdk, settings, server };
    const capabilities = named(name, tools).map(([one, tool]) => toolCapability(parts, one, tool));
    return { name, capabilities, leftOut, close: server.close, [Symbol.asyncDispose]: server.close };
  } finally {
    within.forget();
  }
}

/** The tools that are taken of a server; one that does not tell them is let go of. */
async function toolsOf(first: Awaited<ReturnType<typeof connect>>, settings: McpSettings, signal: AbortSignal) {
  try {
    const { tools, leftOut } = await listTools(first.client, signal);
    return { tools: chosen(tools, settings), leftOut };
  } catch (error) {
    await first.end(true);
    throw failed(settings, 'did not tell its tools', signal.aborted ? signal.reason : error);
  }
}

/** Names that models and servers take, each once: where two become the same, the later gets a number. */
function named(prefix: string, tools: readonly Tool[]): readonly (readonly [string, Tool])[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const name = freeName(wireName(`${prefix}_${tool.name}`), taken);
    taken.add(name);
    return [name, tool] as const;
  });
}
