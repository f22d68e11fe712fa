import type { McpConnection } from './mcp-connection.ts';
import { type McpOptions, mcpSettings } from './options.ts';

/**
 * Connects to a Model Context Protocol server (https://modelcontextprotocol.io) and returns its tools as capabilities. The server is a
 * command, run as a process with stdio transport, or a URL, with streamable HTTP. Requires the package `@modelcontextprotocol/client`.
 *
 * @throws PostChainError `invalid_option`, or `mcp_failed` if the server cannot be connected; its process has then ended.
 */
export async function connectMcp(options: McpOptions): Promise<McpConnection> {
  const settings = mcpSettings(options);
  const { connectServer } = await import('./server.ts');
  return connectServer(settings);
}
