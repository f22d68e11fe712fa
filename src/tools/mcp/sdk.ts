import { loadOptional } from '../../internal/optional-package.ts';

/** The SDK for clients of the Model Context Protocol, an optional peer dependency. */
export type Sdk = Awaited<ReturnType<typeof importSdk>>;

export function loadSdk(): Promise<Sdk> {
  return loadOptional('@modelcontextprotocol/client', 'connectMcp', importSdk, 'mcp_failed');
}

async function importSdk() {
  const { Client, StreamableHTTPClientTransport, isSpecType, deserializeMessage } = await import(
    '@modelcontextprotocol/client'
  );
  return { Client, StreamableHTTPClientTransport, deserializeMessage, isSpecType };
}
