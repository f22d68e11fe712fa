import type { McpConnection } from './mcp-connection.ts';
import { type McpOptions, mcpSettings } from './options.ts';

/**
 * Connects a Model Context Protocol server (https://modelcontextprotocol.io) by the official SDK, and makes capabilities of its
 * tools: a command to start and speak to over its standard input and output, or a URL for streamable HTTP. It needs the package
 * `@modelcontextprotocol/client`.
 *
 * @throws PostChainError `invalid_option`, or `mcp_failed` where the server cannot be connected; then nothing is left of it.
 */
export async function connectMcp(options: McpOptions): Promise<McpConnection> {
  const settings = mcpSettings(options);
  const { connectServer } = await import('./connect-server.ts');
  return connectServer(settings);
}
