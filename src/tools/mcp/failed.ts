import { PostChainError } from '../../../machines/contracts/error.ts';
import { redactSecrets } from '../../internal/secrets.ts';
import type { McpSettings } from './options.ts';

/** What went wrong with a server, in one line that names it and holds neither a secret nor a control character. */
export function failed({ name, secrets }: McpSettings, what: string, cause: unknown): PostChainError {
  if (cause instanceof PostChainError) return cause;
  return new PostChainError(
    'mcp_failed',
    `The MCP server "${name}" ${what}: ${redactSecrets(wordsOf(cause), secrets)}`,
    {
      cause,
    },
  );
}

/** The SDK's classes are told by their members: an HTTP error has a status, and its body as `data.text`. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status, data, code } = error as Error & { status?: unknown; data?: { text?: unknown }; code?: unknown };
  if (typeof status === 'number') return `HTTP ${status}${typeof data?.text === 'string' ? `, ${data.text}` : ''}`;
  if (error.message !== '') return withoutDump(error.message);
  return error instanceof AggregateError ? wordsOf(error.errors[0]) : String(code ?? error.name);
}

/** The SDK tells what it cannot read by all the issues, as JSON: the first says enough. */
function withoutDump(message: string): string {
  const at = message.indexOf('[\n');
  if (at < 0) return message;
  try {
    const [{ path, message: says }] = JSON.parse(message.slice(at)) as [{ path: unknown[]; message: string }];
    return `${message.slice(0, at)}${path.join('.')}: ${says}`;
  } catch {
    return message;
  }
}
