import type { Capability } from '../capability.ts';

export interface LeftOut {
  readonly tool: string;
  readonly reason: string;
}

/** A connected MCP server and its tools as capabilities. */
export interface McpConnection {
  readonly name: string;
  /** One per selected tool, named `name_tool`. */
  readonly capabilities: readonly Capability[];
  /** Tools of the server that cannot be used. */
  readonly leftOut: readonly LeftOut[];
  /** Closes the connection and ends the server's process, within a few seconds. Never rejects. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
