import { z } from 'zod';
import { PostChainError } from '../../../machines/contracts/error.ts';
import { MAX_TIMER_MS } from '../../../machines/contracts/limits.ts';
import { requireValidHeaders } from '../../internal/http.ts';
import { invalidOption, signalSchema } from '../../internal/options.ts';
import { secretWords } from '../../internal/secrets.ts';

interface SharedOptions {
  /** Stands before the name of each tool, `files_read`: letters, digits, `_` and `-`, at most 32. */
  readonly name: string;
  /** The tools to take, by the server's names for them; default all. A name that the server does not have is refused. */
  readonly include?: readonly string[];
  /** The tools to leave out. A name that the server does not have is refused. */
  readonly exclude?: readonly string[];
  /** For connecting and listing the tools, in milliseconds; 10,000 by default. */
  readonly connectTimeoutMs?: number;
  /** How long one call of a tool may take, in milliseconds; default what the chain's `limits.capabilityMs` says. */
  readonly timeoutMs?: number;
  /** Gives up connecting when it aborts; it ends no connection that is there. */
  readonly signal?: AbortSignal;
}

/** A server that is started as a process, and spoken to over its standard input and output. */
export interface McpStdioOptions extends SharedOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside HOME, LOGNAME, PATH, SHELL, TERM and USER (their like on Windows), which are all that the process inherits. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server at a URL, spoken to over streamable HTTP. */
export interface McpHttpOptions extends SharedOptions {
  /** With http or https, and no user or password in it. */
  readonly url: string;
  /** Sent with every request, `{ authorization: 'Bearer …' }` say. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type McpOptions = McpStdioOptions | McpHttpOptions;

const milliseconds = z.number().positive().max(MAX_TIMER_MS);
const texts = z.array(z.string());
const shared = {
  name: z.string().regex(/^[\w-]{1,32}$/u, 'expected letters, digits, _ and -, at most 32'),
  include: texts.optional(),
  exclude: texts.optional(),
  connectTimeoutMs: milliseconds.default(10_000),
  timeoutMs: milliseconds.optional(),
  signal: signalSchema.optional(),
};
const stdioSchema = z.strictObject({
  ...shared,
  command: z.string().min(1),
  args: texts.default([]),
  env: z.record(z.string(), z.string()).default({}),
  cwd: z.string().optional(),
});
const httpSchema = z.strictObject({
  ...shared,
  url: z.url({ protocol: /^https?$/u, error: 'expected a URL with http or https' }),
  headers: z.record(z.string(), z.string()).default({}),
});

/** The options, checked and with their defaults. `secrets` are the texts that no message may hold. */
export type McpSettings = (z.output<typeof stdioSchema> | z.output<typeof httpSchema>) & {
  readonly secrets: readonly string[];
};
export type StdioSettings = Extract<McpSettings, { command: string }>;
export type HttpSettings = Extract<McpSettings, { url: string }>;

/** @throws PostChainError `invalid_option`, before anything is started or sent. */
export function mcpSettings(options: McpOptions): McpSettings {
  const schema = 'url' in options ? httpSchema : stdioSchema;
  const read = schema.safeParse(options);
  if (!read.success) throw invalidOption('The options of connectMcp', options, read.error, schema);
  if ('command' in read.data) return { ...read.data, secrets: secretWords(Object.values(read.data.env)) };
  const { headers, url } = read.data;
  requireNoPassword(url);
  requireValidHeaders(headers);
  return { ...read.data, secrets: secretWords(Object.values(headers)) };
}

function requireNoPassword(url: string): void {
  const { username, password } = new URL(url);
  if (username === '' && password === '') return;
  throw new PostChainError('invalid_option', 'url: got one with a user or password in it; give them as a header.');
}
