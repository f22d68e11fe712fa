/** Tools of MCP servers as capabilities. Requires the package `@modelcontextprotocol/client`. */
export { connectMcp } from '../tools/mcp/connect-mcp.ts';
export type { McpConnection } from '../tools/mcp/mcp-connection.ts';
export type { McpHttpOptions, McpOptions, McpStdioOptions } from '../tools/mcp/options.ts';
