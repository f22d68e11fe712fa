import type { ErrorCode } from '../../../machines/contracts/error.ts';
import type { ToolName } from './tool-schemas.ts';

/** The files of a request are real paths within the root. */
export interface ProcessRequest {
  readonly name: ToolName;
  readonly root: string;
  readonly input: { readonly file: string };
}

export interface ProcessReply {
  readonly tool: 'postchain';
  readonly result?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string };
}

/** What the watchdog of a process prints before it ends it. */
export const MEMORY_EXCEEDED = 'postchain: memory limit exceeded';
