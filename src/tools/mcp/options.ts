import * as z from 'zod/mini';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import { parseOption, requireValidHeaders, signalSchema } from '../../internal/options.ts';
import { headerSecrets, redactSecrets, secretWords } from '../../internal/secrets.ts';

interface SharedOptions {
  /** The prefix of tool names, for example `files` in `files_read`: at most 32 letters, digits, `_` and `-`. */
  readonly name: string;
  /** The tools to use, by the server's names. Default: all. An unknown name is an error. */
  readonly include?: readonly string[];
  /** The tools not to use. An unknown name is an error. */
  readonly exclude?: readonly string[];
  /** The time limit for connecting and listing the tools, in milliseconds. Default: 10,000. */
  readonly connectTimeoutMs?: number;
  /** The time limit of one tool call, in milliseconds. Default: the chain's `limits.capabilityMs`. */
  readonly timeoutMs?: number;
  /**
   * Whether calls of the tools need approval. Default: calls of tools that the server does not mark as read-only (`readOnlyHint`) do; others
   * follow the chain's `approval`. Pass `always` for a server that you do not trust to mark its tools.
   */
  readonly approval?: 'always' | 'never';
  /** Aborts connecting. It does not close an established connection. */
  readonly signal?: AbortSignal;
}

/** A server that runs as a process, with stdio transport. */
export interface McpStdioOptions extends SharedOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to HOME, LOGNAME, PATH, SHELL, TERM and USER (or their Windows equivalents); the process inherits no other variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server at a URL, with streamable HTTP. */
export interface McpHttpOptions extends SharedOptions {
  /** An http or https URL without user and password. */
  readonly url: string;
  /** Sent with every request, for example `{ authorization: 'Bearer …' }`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type McpOptions = McpStdioOptions | McpHttpOptions;

const milliseconds = z.number().check(z.positive(), z.lte(MAX_TIMER_MS));
const texts = z.array(z.string());
const shared = {
  name: z.string().check(z.regex(/^[\w-]{1,32}$/u, 'must be at most 32 letters, digits, _ and -')),
  include: z.optional(texts),
  exclude: z.optional(texts),
  connectTimeoutMs: z._default(milliseconds, 10_000),
  timeoutMs: z.optional(milliseconds),
  approval: z.optional(z.enum(['always', 'never'])),
  signal: z.optional(signalSchema),
};
const stdioSchema = z.strictObject({
  ...shared,
  command: z.string().check(z.minLength(1)),
  args: z._default(texts, []),
  env: z._default(z.record(z.string(), z.string()), {}),
  cwd: z.optional(z.string()),
});
const httpSchema = z.strictObject({
  ...shared,
  url: z.url({ protocol: /^https?$/u, error: 'must be an http or https URL' }),
  headers: z._default(z.record(z.string(), z.string()), {}),
});

/** No message may contain one of `secrets`. */
export type McpSettings = (z.output<typeof stdioSchema> | z.output<typeof httpSchema>) & {
  readonly secrets: readonly string[];
};
export type StdioSettings = Extract<McpSettings, { command: string }>;
export type HttpSettings = Extract<McpSettings, { url: string }>;

/** @throws PostChainError `invalid_option` */
export function mcpSettings(options: McpOptions): McpSettings {
  if (typeof options !== 'object' || options === null || !('url' in options)) {
    const settings = parseOption(stdioSchema, options, 'options of connectMcp');
    return { ...settings, secrets: secretWords(Object.values(settings.env)) };
  }
  const settings = parseOption(httpSchema, options, 'options of connectMcp');
  requireNoPassword(settings.url);
  requireValidHeaders(settings.headers);
  return { ...settings, secrets: headerSecrets(settings.headers) };
}

function requireNoPassword(url: string): void {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return;
  throw new PostChainError('invalid_option', '"url" must not contain a user or password; pass them as a header.');
}

/** Returns an error that names the server, in one line without secrets and control characters. */
export function mcpError({ name, secrets }: McpSettings, problem: string, cause: unknown): PostChainError {
  if (cause instanceof PostChainError) return cause;
  return new PostChainError(
    'mcp_failed',
    `The MCP server "${name}" ${problem}: ${redactSecrets(errorText(cause), secrets)}`,
    {
      cause,
    },
  );
}

/** Recognizes the SDK's errors by their members: an HTTP error has a status, and its body in `data.text`. */
function errorText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { status, data, code } = error as Error & { status?: unknown; data?: { text?: unknown }; code?: unknown };
  if (typeof status === 'number') return `HTTP ${status}${typeof data?.text === 'string' ? `, ${data.text}` : ''}`;
  if (error.message !== '') return withFirstIssue(error.message);
  return error instanceof AggregateError ? errorText(error.errors[0]) : String(code ?? error.name);
}

/** Returns an error message with its first issue only: the SDK reports an invalid message with all issues as JSON. */
function withFirstIssue(message: string): string {
  const at = message.indexOf('[\n');
  if (at < 0) return message;
  try {
    const [{ path, message: issue }] = JSON.parse(message.slice(at)) as [{ path: unknown[]; message: string }];
    return `${message.slice(0, at)}${path.join('.')}: ${issue}`;
  } catch {
    return message;
  }
}
