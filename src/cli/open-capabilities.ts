import { PostChainError } from '../../machines/contracts/error.ts';
import type { PassageSource } from '../../machines/contracts/passage.ts';
import type { Document } from '../documents/document.ts';
import type { Capability } from '../tools/capability.ts';
import type { McpConnection } from '../tools/mcp/mcp-connection.ts';

/** The built-in capabilities that a run can be given by name. */
export type BuiltIn = 'calculator' | 'current_time' | 'search_documents' | 'read_passage';

interface Given {
  readonly names: readonly BuiltIn[];
  readonly servers: readonly string[];
  readonly documents: { readonly source: PassageSource; readonly documents: readonly Document[] } | null;
}

export interface OpenedCapabilities {
  readonly capabilities: readonly Capability[];
  close(): Promise<void>;
}

/**
 * The capabilities of a run: built-in ones by name, and the tools of MCP servers, each a URL or a command. Throws `invalid_option` or
 * `mcp_failed`; the servers that were connected by then are let go of.
 */
export async function openCapabilities({ names, servers, documents }: Given): Promise<OpenedCapabilities> {
  const builtIn = await Promise.all([...new Set(names)].map((name) => builtInCapability(name, documents)));
  const connections: McpConnection[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  try {
    for (const [at, server] of servers.entries()) connections.push(await connect(server, at));
  } catch (error) {
    await close();
    throw error;
  }
  return { capabilities: [...builtIn, ...connections.flatMap(({ capabilities }) => capabilities)], close };
}

async function builtInCapability(name: BuiltIn, documents: Given['documents']): Promise<Capability> {
  switch (name) {
    case 'calculator': {
      const { calculator, loadMathjs } = await import('../tools/calculator.ts');
      await loadMathjs();
      return calculator();
    }
    case 'current_time':
      return (await import('../tools/current-time.ts')).currentTime();
    case 'search_documents':
      return (await import('../tools/search-documents.ts')).searchDocuments(given(name, documents).source);
    case 'read_passage':
      return (await import('../tools/read-passage.ts')).readPassage(given(name, documents).documents);
    default: {
      const never: never = name;
      return never;
    }
  }
}

function given<Documents>(name: string, documents: Documents | null): Documents {
  if (documents !== null) return documents;
  throw new PostChainError('invalid_option', `--capability ${name}: got no documents; wanted --docs beside it.`);
}

/** A URL, or a command with its arguments between spaces. */
async function connect(server: string, at: number): Promise<McpConnection> {
  const { connectMcp } = await import('../tools/mcp/connect-mcp.ts');
  const name = `mcp${at + 1}`;
  if (/^https?:\/\//i.test(server)) return connectMcp({ name, url: server });
  const [command = '', ...args] = server.trim().split(/\s+/);
  return connectMcp({ name, command, args });
}
