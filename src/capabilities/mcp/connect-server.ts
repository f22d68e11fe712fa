import { wireName } from '../../schemas/wire-name.ts';
import { connect } from './connection.ts';
import { deadline } from './deadline.ts';
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
  const first = await open(within.signal);
  try {
    const { tools, leftOut } = await listTools(first.client, within.signal);
    const server = reconnecting(first, open);
    const parts = { sdk, settings, server };
    const capabilities = named(name, chosen(tools, settings)).map(([one, tool]) => toolCapability(parts, one, tool));
    return { name, capabilities, leftOut, close: server.close, [Symbol.asyncDispose]: server.close };
  } catch (error) {
    await first.end(true);
    throw failed(settings, 'did not tell its tools', within.signal.aborted ? within.signal.reason : error);
  } finally {
    within.forget();
  }
}

/** Names that models and servers take, each once: where two become the same, the later gets a number. */
function named(prefix: string, tools: readonly Tool[]): readonly (readonly [string, Tool])[] {
  const taken = new Set<string>();
  return tools.map((tool) => {
    const name = wireName(`${prefix}_${tool.name}`);
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name.slice(0, 60)}_${number}`;
    taken.add(free);
    return [free, tool] as const;
  });
}
