import type { Capability } from '../capability.ts';

/** A tool that cannot be offered, and why. */
export interface LeftOut {
  readonly tool: string;
  readonly reason: string;
}

/** A connected Model Context Protocol server, and its tools as capabilities. */
export interface McpConnection {
  readonly name: string;
  /** One for each tool taken, named `name_tool`. */
  readonly capabilities: readonly Capability[];
  /** Tools that the server tells but that cannot be offered. */
  readonly leftOut: readonly LeftOut[];
  /** Ends the connection and, of a server that was started, its process; within some seconds, and without rejecting. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
